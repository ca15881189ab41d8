package wordpiece

import "encoding/json"

// processor is what a tokenizer.json says of the pieces around a text.
type processor struct {
	Type   string          `json:"type"`
	CLS    json.RawMessage `json:"cls"` // [piece, number]
	SEP    json.RawMessage `json:"sep"`
	Single []struct {
		Special *struct {
			ID string `json:"id"`
		} `json:"SpecialToken"`
	} `json:"single"`
}

// frame is the numbers of the pieces before and after a text.
func (p *processor) frame(vocab map[string]int64) (before, after []int64, err error) {
	if p == nil {
		return nil, nil, nil
	}
	switch p.Type {
	case "BertProcessing", "RobertaProcessing":
		first, err := numbered(p.CLS)
		if err != nil {
			return nil, nil, err
		}
		last, err := numbered(p.SEP)
		return []int64{first}, []int64{last}, err
	case "TemplateProcessing":
		return p.template(vocab)
	}
	return nil, nil, faulty("puts pieces around a text by %q, which is not known", p.Type)
}

func (p *processor) template(vocab map[string]int64) (before, after []int64, err error) {
	to, texts := &before, 0
	for _, part := range p.Single {
		if part.Special == nil {
			to, texts = &after, texts+1
			continue
		}
		id, ok := vocab[part.Special.ID]
		if !ok {
			return nil, nil, faulty("has no piece %q", part.Special.ID)
		}
		*to = append(*to, id)
	}
	if texts != 1 || len(before)+len(after) > maxFrame {
		return nil, nil, faulty("has a template that is not one text with a few pieces around it")
	}
	return before, after, nil
}

const maxFrame = 16

func numbered(piece json.RawMessage) (id int64, err error) {
	var name string
	both := []any{&name, &id}
	if err := json.Unmarshal(piece, &both); err != nil || len(both) != 2 || id < 0 || id >= 2*maxVocab {
		return 0, faulty("names the pieces around a text without their numbers")
	}
	return id, nil
}
