/** Kubeconfigs that are JSON: how such a text is laid out, and how a document is written as JSON again. */
import { isMap, isScalar, isSeq } from 'yaml'
import { fromYaml } from '../../machinery/yaml.ts'

/** How a JSON text is written. */
export interface JsonLayout {
  /** In front of the members of the outermost object; undefined for all in one line. */
  readonly indent: string | undefined
  /** Behind colons, and behind commas in one line. */
  readonly space: string
  readonly end: string
}

/** The layout of a text that is JSON; undefined for YAML. */
export function jsonLayout(text: string): JsonLayout | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  const indent = /^\s*\{[ \t]*\r?\n([ \t]*)"/.exec(text)?.[1]
  return { indent, space: /^\s*\{\s*"(?:[^"\\]|\\.)*":\S/.test(text) ? '' : ' ', end: /\n$/.test(text) ? '\n' : '' }
}

/** A YAML node without aliases as JSON. */
export const jsonText = (node: unknown, layout: JsonLayout): string => `${write(node, layout, '\n')}${layout.end}`

function write(node: unknown, layout: JsonLayout, line: string): string {
  const { indent, space } = layout
  const inner = `${line}${indent ?? ''}`
  const lines = (parts: readonly string[], open: string, close: string): string => {
    if (parts.length === 0) return `${open}${close}`
    return indent === undefined
      ? `${open}${parts.join(`,${space}`)}${close}`
      : `${open}${inner}${parts.join(`,${inner}`)}${line}${close}`
  }
  if (isSeq(node))
    return lines(
      node.items.map((item) => write(item, layout, inner)),
      '[',
      ']',
    )
  if (isMap(node))
    return lines(
      node.items.map(({ key, value }) => `${keyText(key)}:${space}${write(value, layout, inner)}`),
      '{',
      '}',
    )
  return scalarText(node)
}

const keyText = (key: unknown): string => JSON.stringify(String(isScalar(key) ? key.value : key))

/** A value that comes out of a YAML file is what Kubernetes takes it for. */
function scalarText(node: unknown): string {
  if (!isScalar(node) || node.value === null) return 'null'
  const text = String(node.value)
  if (node.type !== 'PLAIN') return JSON.stringify(text)
  // Numbers keep their digits.
  return /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?)$/.test(text)
    ? text
    : JSON.stringify(fromYaml(text) ?? null)
}
