package secrets

// lookAlike is the ASCII character that c is easily taken for, or 0. Only
// characters that no Unicode normalization maps stand here; compatibility
// forms (full-width, mathematical, circled and so on) are decomposed first.
func lookAlike(c rune) byte { return lookAlikes[c] }

var lookAlikes = alikeTable(map[byte]string{
	'A': "АΑᎪᗅ", 'B': "ВΒᏴ", 'C': "СϹᏟ", 'D': "Ꭰ", 'E': "ЕΕᎬ", 'F': "Ϝ", 'G': "ԌᏀ", 'H': "НΗᎻ",
	'I': "ІΙӀ", 'J': "ЈᎫ", 'K': "КΚᏦ", 'L': "Ꮮ", 'M': "МΜᎷϺ", 'N': "Ν", 'O': "ОΟՕ",
	'P': "РΡᏢ", 'Q': "Ԛ", 'R': "Ꭱ", 'S': "ЅՏᏚ", 'T': "ТΤᎢ", 'U': "Սሀ", 'V': "ѴᏙ", 'W': "ԜᎳ",
	'X': "ХΧ", 'Y': "УΥҮ", 'Z': "ΖᏃ",
	'a': "аαɑ", 'b': "ЬƄ", 'c': "сϲᴄ", 'd': "ԁɗ", 'e': "еєҽ", 'f': "ẝꞙ", 'g': "ɡց", 'h': "һհ",
	'i': "іιıɪ", 'j': "јϳ", 'k': "кκᴋ", 'l': "ӏⅼ", 'm': "мᴍ", 'n': "пηո", 'o': "оοσօᴏ",
	'p': "рρ", 'q': "ԛգ", 'r': "гᴦ", 's': "ѕꜱ", 't': "тτᴛ", 'u': "υսᴜ", 'v': "νѵᴠ", 'w': "ԝᴡω",
	'x': "хχ", 'y': "уγүʏ", 'z': "ᴢ",
	'0': "⓿", '3': "ЗӠƷ", '4': "Ꮞ", '6': "б",
	'-': "‐‑‒–—―−⁃˗➖⸺⸻゠〜‾﹘", '_': "‿ˍ", '.': "․·", ':': "∶꞉ː։", '/': "⁄∕", '=': "═꞊", '+': "➕", '|': "ǀ∣",
	'"': "“”„‟″「」『』«»‹›", '\'': "‘’‚‛′ʼ",
	// Enclosed forms without a decomposition.
	'1': "⓵❶➀➊", '2': "⓶❷➁➋", '5': "⓹❺➄➎", '7': "⓻❼➆➐", '8': "⓼❽➇➑", '9': "⓽❾➈➒",
})

func alikeTable(byASCII map[byte]string) map[rune]byte {
	table := map[rune]byte{}
	for ascii, others := range byASCII {
		for _, c := range others {
			table[c] = ascii
		}
	}
	for i := range rune(26) { // negative squared and circled capitals
		table['\U0001f150'+i] = byte('A' + i)
		table['\U0001f170'+i] = byte('A' + i)
		table['\U0001f1e6'+i] = byte('A' + i) // regional indicators
	}
	return table
}
