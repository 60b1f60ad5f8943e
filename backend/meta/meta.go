// Package meta holds the tests about the code itself: which package may import which, what the three programs link,
// and the habits that the compiler does not hold. It has no code of its own.
package meta
