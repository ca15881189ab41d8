package mcptools

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	digestURI = "cairn://digest"
	// digestBytes is what a tool may load at its start without asking.
	digestBytes = 4096
)

func digestResource() mcp.Resource {
	return mcp.NewResource(digestURI, "digest",
		mcp.WithResourceDescription("Pointers to what is in shared memory: one line each with id, title and date. Empty when nothing is stored."),
		mcp.WithMIMEType("text/plain"),
	)
}

func (d *desk) readDigest(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	agent, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	text, err := agent.Digest(ctx, digestBytes)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: digestURI, MIMEType: "text/plain", Text: text}}, nil
}
