/** Detects the layout of a JSON kubeconfig, and writes a document as JSON with that layout. */
import { isMap, isScalar, isSeq } from 'yaml'
import { fromYaml } from '../../../machinery/yaml.ts'

/** The layout of a JSON text. */
export interface JsonLayout {
  /** Indentation of the outermost object's members; undefined for a single line. */
  readonly indent: string | undefined
  /** The text after colons, and after commas in a single line. */
  readonly space: string
  readonly end: string
}

/** Detects the layout of a JSON text; returns undefined for YAML. */
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

/** Writes a YAML node without aliases as JSON. */
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

/** Writes a YAML scalar with the type that Kubernetes' YAML parser gives it. */
function scalarText(node: unknown): string {
  if (!isScalar(node) || node.value === null) return 'null'
  const text = String(node.value)
  if (node.type !== 'PLAIN') return JSON.stringify(text)
  // Numbers keep their text.
  return /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?)$/.test(text)
    ? text
    : JSON.stringify(fromYaml(text) ?? null)
}
