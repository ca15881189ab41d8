package embed

import (
	"bytes"
	"crypto/sha256"
	"math"
)

// An Embedder gives texts their places. It is safe for concurrent use.
type Embedder interface {
	// Name is another one whenever vectors made before cannot be compared with
	// those made now.
	Name() string
	// Embed is the vector of a text. One that the embedder can say nothing of
	// has no place; its vector only tells who made it.
	Embed(text string) Vector
	// Question is the vector of a question; nil if it would have to wait for it.
	Question(text string) Vector
}

// A Vector is the place of a text: who made it, and a number in each byte from
// -127 to 127. It can be kept and compared as bytes; nil is the vector of no
// embedder.
type Vector []byte

// A stamp begins a vector and stands for the name of its embedder.
const stampLen = 8

func stampOf(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return sum[:stampLen]
}

// newVector rounds the numbers, of which only the direction counts. Without
// any direction the vector has no place.
func newVector(stamp []byte, numbers []float32) Vector {
	v := append(make(Vector, 0, stampLen+len(numbers)), stamp...)
	scale := scaleOf(numbers)
	if scale == 0 {
		return v
	}
	for _, x := range numbers {
		v = append(v, byte(steps(x, scale)))
	}
	return v
}

// scaleOf is what one step of a rounded number stands for; 0 if all are 0 or
// too small to be told from it.
func scaleOf(numbers []float32) float32 {
	var most float32
	for _, x := range numbers {
		most = max(most, x, -x)
	}
	return most / math.MaxInt8
}

// steps rounds a number to what a byte holds.
func steps(x, scale float32) int8 {
	return int8(min(max(math.Round(float64(x/scale)), -math.MaxInt8), math.MaxInt8))
}

// IsOf says whether the embedder of that name made the vector.
func (v Vector) IsOf(name string) bool {
	return len(v) >= stampLen && bytes.Equal(v[:stampLen], stampOf(name))
}

// HasPlace says whether the vector can be compared with others.
func (v Vector) HasPlace() bool { return len(v) > stampLen }

// Similarity is how much two texts have in common, from -1 to 1: the cosine of
// the angle between their vectors. It is 0 where there is nothing to compare:
// one of them has no place, or they are of different embedders.
func Similarity(v, w Vector) float64 {
	if !v.HasPlace() || len(v) != len(w) || !bytes.Equal(v[:stampLen], w[:stampLen]) {
		return 0
	}
	var dot, vv, ww int64
	w = w[stampLen:]
	for i, b := range v[stampLen:] {
		x, y := int64(int8(b)), int64(int8(w[i]))
		dot += x * y
		vv += x * x
		ww += y * y
	}
	if vv == 0 || ww == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(vv)*float64(ww))
}
