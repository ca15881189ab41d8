// Package wordpiece cuts texts into the pieces of words that BERT and its kin
// know, each a number.
//
// It reads what Hugging Face's libraries write beside a model: tokenizer.json,
// or the older vocab.txt. It knows the one way of cutting that is called
// WordPiece, after BERT's own clean-up of a text; a file that asks for another
// one is refused.
//
// It leaves out on purpose special tokens in a text: "[SEP]" in a note is a word
// in brackets, and ends nothing.
//
// It promises that no file and no text makes it panic, and that a text costs
// time in proportion to its length.
package wordpiece
