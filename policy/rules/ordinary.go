package rules

// ordinary is what developers write all day and no pattern should find: one
// that does would refuse most notes.
const ordinary = `
We decided to keep the session cache in memory; the token is rotated by the service every hour.
The password field is never logged. See docs/secrets.md and the key binding ctrl+shift+k.
fix(api): return 404 for an unknown user, closes #1204
commit 3f2a9c1b7de84f60a5b3c2d1e0f9a8b7c6d5e4f3
Merge branch 'feature/task-while-waiting' into main
id 6ba7b810-9dad-11d1-80b4-00c04fd430c8, trace 4bf92f3577b34da6a3ce929d0e0e4736
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
2026-11-30T18:05:44Z INFO request=17 status=200 took=3ms
https://example.com/path/to/page?query=value&page=2#part
go test ./... && git push origin main
	if err != nil { return fmt.Errorf("open the log: %w", err) }
const maxRetries = 5; let userName = props.userName;
SELECT id, name FROM users WHERE created_at > now() - interval '7 days';
{"name": "left-pad", "version": "1.3.0", "license": "MIT"}
github.com/spf13/cobra v1.10.1
/home/ana/projects/billing/src/main/java/com/example/App.java
export PATH="$HOME/.local/bin:$PATH"
password: ${DB_PASSWORD}
ana@example.com, +49 30 123456, 192.168.0.1:8080, fe80::1
01jdyrnk3s8q4b7ymx2v5c6d9e
部署时使用缓存保存会话，令牌由服务轮换。
docker run --rm -it -p 8080:80 nginx:1.27
- [ ] write the tests  - [x] read the docs
`
