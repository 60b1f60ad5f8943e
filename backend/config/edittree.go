package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// editTree makes one change on the parsed nodes and writes them anew: comments and order stay, spacing may not. It is
// for texts in which the place of a value is not clear.
func editTree(text string, c change) (string, error) {
	root, err := parseText(text)
	if err != nil {
		return "", err
	}
	if root == nil {
		return "", errPlace
	}
	root = unaliased(root, 0)
	if err := changeNode(root, c); err != nil {
		return "", err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	out := b.String()
	if strings.Contains(text, "\r\n") {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	return out, nil
}

// unaliased gives the nodes with every alias replaced by a copy of what it points at, so that a change in one place
// stays in that place.
func unaliased(n *yaml.Node, depth int) *yaml.Node {
	if depth > 200 { // deeper than any settings; the proof afterwards then refuses
		return n
	}
	c := *n
	if n.Kind == yaml.AliasNode {
		c = *n.Alias
		c.HeadComment, c.LineComment, c.FootComment = n.HeadComment, n.LineComment, n.FootComment
	}
	src := c.Content
	c.Anchor, c.Alias = "", nil
	c.Content = make([]*yaml.Node, len(src))
	for i, x := range src {
		c.Content[i] = unaliased(x, depth+1)
	}
	return &c
}

func changeNode(root *yaml.Node, c change) error {
	cur := root
	for i, key := range c.path {
		if cur.Kind != yaml.MappingNode {
			v, err := valueNode(nest(c.path[i:], c.value))
			if err != nil {
				return err
			}
			comments := [3]string{cur.HeadComment, cur.LineComment, cur.FootComment}
			*cur = *v
			cur.HeadComment, cur.LineComment, cur.FootComment = comments[0], comments[1], comments[2]
			return nil
		}
		last := i == len(c.path)-1
		k := lastKey(cur, key)
		switch {
		case last && c.remove:
			for ; k >= 0; k = lastKey(cur, key) {
				cur.Content = append(cur.Content[:k], cur.Content[k+2:]...)
			}
			return nil
		case k < 0:
			value := nest(c.path[i+1:], c.value)
			if all, err := plain(cur); err == nil {
				if old, ok := at(all, []string{key}); ok {
					value = apply(old, []change{{path: c.path[i+1:], value: c.value}})
				}
			}
			v, err := valueNode(value)
			if err != nil {
				return err
			}
			cur.Content = append(cur.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, v)
			return nil
		case last:
			v, err := valueNode(c.value)
			if err != nil {
				return err
			}
			v.HeadComment, v.LineComment, v.FootComment = cur.Content[k+1].HeadComment, cur.Content[k+1].LineComment, cur.Content[k+1].FootComment
			cur.Content[k+1] = v
			return nil
		}
		cur = cur.Content[k+1]
	}
	return errors.New("edit settings: a change of nothing")
}

func valueNode(v any) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(flow(v)), &doc); err != nil || len(doc.Content) != 1 {
		return nil, fmt.Errorf("write settings: %w", err)
	}
	n := doc.Content[0]
	n.Line, n.Column = 0, 0
	return n, nil
}
