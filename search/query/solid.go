package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/search/analysis"
)

// solidWords cuts a run of a script without spaces into pieces that mean
// something: at turns of phrase that only make it a question, and, in
// Japanese, where the script changes. Nothing is cut away if nothing would be
// left.
func solidWords(run string) []Word {
	var out []Word
	for _, piece := range pieces(run) {
		out = append(out, solidWord(piece))
	}
	if len(out) == 0 {
		return []Word{solidWord(run)}
	}
	return out
}

func solidWord(text string) Word {
	w := Word{Text: text}
	var chars []string
	for span := range analysis.Spans(text) {
		for tok := range span.Tokens() {
			if tok.Form == analysis.Pair {
				w.Parts = append(w.Parts, tok.Text)
			} else {
				chars = append(chars, tok.Text)
			}
		}
	}
	if len(chars) == 1 {
		w.Parts = chars
	}
	return w
}

func pieces(run string) []string {
	var out []string
	for _, part := range cutPhrases(analysis.Fold(run)) {
		for _, piece := range cutScripts(part) {
			if piece = trimParticle(piece); piece != "" {
				out = append(out, piece)
			}
		}
	}
	return out
}

// turns drops turns of phrase that make a question or a request of a text;
// where one begins another the longer one stands first. Words that only look
// like one are kept.
var turns = strings.NewReplacer(append(kept("目的", "的确", "的確", "标的"), spaced(
	"怎么办", "怎麼辦", "为什么", "為什麼", "是什么", "是什麼", "有什么", "有什麼", "什么时候", "什麼時候", "什么", "什麼", "怎么样", "怎么", "怎麼", "怎样", "怎樣",
	"如何", "哪个", "哪個", "哪些", "哪里", "哪裡", "多少", "是不是", "能不能", "有没有", "有沒有", "可以", "我们", "我們", "你们", "他们", "请问", "請問", "是否", "几次", "幾次", "几个", "幾個", "多久",
	"为何", "為何", "何时", "何時", "几点", "幾點", "多大", "多长", "多長", "多高", "多远", "多遠", "多快", "哪种", "哪種", "哪台", "哪一",
	"应该", "應該", "需要", "要不要", "会不会", "會不會", "该不该", "該不該", "还是", "還是", "合适", "合適", "这个", "這個", "那个", "那個", "这些", "這些", "那些",
	"以后", "以後", "之后", "之後", "时候", "時候", "一下", "因为", "因為", "所以", "如果", "但是",
	"吗", "嗎", "呢", "的",
	"どうやって", "どのように", "どうして", "ください", "なぜ", "どこ", "どの", "いつ", "なに", "何を", "ですか", "ますか", "でしたか", "ましたか",
	"무엇", "어떻게", "언제", "어디", "왜", "우리는", "우리가", "하는", "했나요", "인가요", "나요", "까요", "합니까",
)...)...)

func kept(words ...string) []string {
	var out []string
	for _, w := range words {
		out = append(out, w, w)
	}
	return out
}

func spaced(phrases ...string) []string {
	var out []string
	for _, p := range phrases {
		out = append(out, p, " ")
	}
	return out
}

func cutPhrases(run string) []string { return strings.Fields(turns.Replace(run)) }

// cutScripts cuts Japanese where Hiragana, which mostly carries grammar, meets
// Kanji or Katakana, and drops the Hiragana if anything else is there.
func cutScripts(run string) []string {
	var out, hiragana []string
	for run != "" {
		n, soft := sameScript(run)
		if soft {
			hiragana = append(hiragana, run[:n])
		} else {
			out = append(out, run[:n])
		}
		run = run[n:]
	}
	if len(out) == 0 {
		return hiragana
	}
	return out
}

// sameScript is the length of the stretch of Hiragana, or of anything else,
// with which run begins.
func sameScript(run string) (n int, hiragana bool) {
	first, _ := utf8.DecodeRuneInString(run)
	hiragana = unicode.Is(unicode.Hiragana, first)
	for i, r := range run {
		if r != 'ー' && unicode.Is(unicode.Hiragana, r) != hiragana {
			return i, hiragana
		}
	}
	return len(run), hiragana
}

// particles are Korean endings that say what a noun does in its sentence,
// longest first.
var particles = []string{"에서는", "에서", "에게", "으로", "까지", "부터", "이나", "라는", "을", "를", "은", "는", "이", "가", "에", "의", "와", "과", "도", "로"}

// trimParticle takes one particle off a Korean word that stays at least two
// characters long.
func trimParticle(piece string) string {
	first, _ := utf8.DecodeRuneInString(piece)
	if !unicode.Is(unicode.Hangul, first) {
		return piece
	}
	for _, p := range particles {
		if stem, ok := strings.CutSuffix(piece, p); ok && utf8.RuneCountInString(stem) >= 2 {
			return stem
		}
	}
	return piece
}
