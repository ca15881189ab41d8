package onnx

import "math"

// An operator is what is known of one: how many inputs it takes, and what it
// does. How each is meant is in the Operator Schemas of the ONNX specification.
type operator struct {
	least, most int
	do          op
}

const anyNumber = math.MaxInt32

// operators are all that are known. It is no variable, so that a program that
// opens no models holds none of them.
func operators() map[string]operator {
	return map[string]operator{
		"Constant": {0, 0, nil}, // taken in with the weights

		"Abs":        {1, 1, signed(math.Abs, func(x int64) int64 { return max(x, -x) })},
		"Ceil":       {1, 1, unary(math.Ceil)},
		"Cos":        {1, 1, unary(math.Cos)},
		"Erf":        {1, 1, unary(math.Erf)},
		"Exp":        {1, 1, unary(math.Exp)},
		"Floor":      {1, 1, unary(math.Floor)},
		"Gelu":       {1, 1, gelu},
		"Log":        {1, 1, unary(math.Log)},
		"Neg":        {1, 1, signed(func(x float64) float64 { return -x }, func(x int64) int64 { return -x })},
		"Reciprocal": {1, 1, unary(func(x float64) float64 { return 1 / x })},
		"Relu":       {1, 1, unary(relu)},
		"Sigmoid":    {1, 1, unary(sigmoid)},
		"Sin":        {1, 1, unary(math.Sin)},
		"Sqrt":       {1, 1, unary(math.Sqrt)},
		"Tanh":       {1, 1, unary(math.Tanh)},

		"Add": {2, 2, pairwise(add, func(a, b int64) int64 { return a + b })},
		"Div": {2, 2, pairwise(divide, quotient)},
		"Max": {1, anyNumber, variadic(pairwise(single(func(a, b float32) float32 { return max(a, b) }), func(a, b int64) int64 { return max(a, b) }))},
		"Min": {1, anyNumber, variadic(pairwise(single(func(a, b float32) float32 { return min(a, b) }), func(a, b int64) int64 { return min(a, b) }))},
		"Mod": {2, 2, modulo},
		"Mul": {2, 2, pairwise(multiply, func(a, b int64) int64 { return a * b })},
		"Pow": {2, 2, powers},
		"Sub": {2, 2, pairwise(subtract, func(a, b int64) int64 { return a - b })},
		"Sum": {1, anyNumber, variadic(pairwise(add, nil))},

		"And":            {2, 2, logic(func(a, b int64) int64 { return a & b })},
		"Equal":          {2, 2, compare(func(a, b float32) int64 { return truth(a == b) }, func(a, b int64) int64 { return truth(a == b) })},
		"Greater":        {2, 2, compare(func(a, b float32) int64 { return truth(a > b) }, func(a, b int64) int64 { return truth(a > b) })},
		"GreaterOrEqual": {2, 2, compare(func(a, b float32) int64 { return truth(a >= b) }, func(a, b int64) int64 { return truth(a >= b) })},
		"IsNaN":          {1, 1, isNaN},
		"Less":           {2, 2, compare(func(a, b float32) int64 { return truth(a < b) }, func(a, b int64) int64 { return truth(a < b) })},
		"LessOrEqual":    {2, 2, compare(func(a, b float32) int64 { return truth(a <= b) }, func(a, b int64) int64 { return truth(a <= b) })},
		"Not":            {1, 1, not},
		"Or":             {2, 2, logic(func(a, b int64) int64 { return a | b })},
		"Where":          {3, 3, where},

		"Cast":    {1, 1, casts},
		"Clip":    {1, 3, clip},
		"CumSum":  {2, 2, cumSum},
		"Dropout": {1, 3, dropout},

		"Gemm":               {2, 3, gemm},
		"LayerNormalization": {2, 3, layerNorm},
		"MatMul":             {2, 2, matMul},
		"Softmax":            {1, 1, softmax},

		"ReduceL2":   {1, 2, reduce(length)},
		"ReduceMax":  {1, 2, reduce(mostOf)},
		"ReduceMean": {1, 2, reduce(meanOf)},
		"ReduceMin":  {1, 2, reduce(least)},
		"ReduceSum":  {1, 2, reduce(sumOf)},

		"Concat":          {1, anyNumber, concat},
		"ConstantOfShape": {1, 1, filled},
		"Expand":          {2, 2, expand},
		"Flatten":         {1, 1, flatten},
		"Gather":          {2, 2, gather},
		"GatherElements":  {2, 2, gatherElements},
		"Identity":        {1, 1, same},
		"Range":           {3, 3, ranges},
		"Reshape":         {2, 2, reshape},
		"Shape":           {1, 1, shapeOf},
		"Slice":           {1, 5, slice},
		"Split":           {1, 2, split},
		"Squeeze":         {1, 2, squeeze},
		"Tile":            {2, 2, tile},
		"Transpose":       {1, 1, transpose},
		"Unsqueeze":       {1, 2, unsqueeze},
	}
}
