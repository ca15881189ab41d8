package secrets

import "bytes"

// maxRows is how many lines below the head of a table are read.
const maxRows = 4

// columnValue takes a value that stands below its name: in the same column of
// a table whose cells commas, semicolons, tabs or bars part.
func columnValue(text []byte, name span, how strength) (match, bool) {
	border := blanks.after(text, closers.after(text, name.end, 2), 20)
	if border < len(text) && !cellBorders[text[border]] && text[border] != '\n' {
		return match{}, false
	}
	start := bytes.LastIndexByte(text[max(0, name.start-maxLine):name.start], '\n') + 1 + max(0, name.start-maxLine)
	head := lineAfter(text, start, 2*maxLine)
	at := bytes.IndexAny(head, ",;\t|")
	if at < 0 {
		return match{}, false
	}
	part := head[at : at+1]
	column, columns := bytes.Count(text[start:name.start], part), bytes.Count(head, part)
	next := start + len(head) + 1
	for row := 0; row < maxRows && next < len(text); row++ {
		line := lineAfter(text, next, 2*maxLine)
		if bytes.Count(line, part) != columns {
			return match{}, false
		}
		cell := span{next, next + len(line)}
		for range column {
			cell.start += bytes.Index(cell.in(text), part) + 1
		}
		if stop := bytes.Index(cell.in(text), part); stop >= 0 {
			cell.end = cell.start + stop
		}
		value := bytes.Trim(cell.in(text), " \t\r\"'`")
		if len(value) > 0 && bytes.IndexByte(value, ' ') < 0 && isSecretValue(value, how, assigned) {
			return match{span: cell}, true
		}
		next += len(line) + 1
	}
	return match{}, false
}

var cellBorders = alphabetOf(",;\t|\r")
