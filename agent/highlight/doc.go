// Package highlight shows in the hits of a search which words of theirs it
// matched.
//
// It looks at what is shown of a hit, the title and the snippet, and never
// changes the hit: what is stored stays as it is stored in every answer. It
// leaves out on purpose how a mark looks, which is for whoever shows it, and
// what matched in tags.
package highlight
