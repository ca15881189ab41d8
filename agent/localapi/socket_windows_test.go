package localapi_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/Microsoft/go-winio"

	"cairn/internal/paths"
)

func rawConn(home paths.Home) (net.Conn, error) {
	b, err := os.ReadFile(filepath.Join(string(home), "agent.address"))
	if err != nil {
		return nil, err
	}
	return winio.DialPipe(strings.TrimSpace(string(b)), nil)
}
