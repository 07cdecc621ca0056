/**
 * The subset of jq that stages use: `.status.conditions.[] | select(.type == "Ready") | .status`,
 * `.metadata.annotations["a/b"]`.
 */

/** Returns all values that an expression finds in an object, without null and missing ones. */
export type PathExpression = (object: unknown) => readonly unknown[]

type Step = (value: unknown) => readonly unknown[]

const token = /\s*(?:\.?\["([^"]*)"\]|\.?\[(-?\d+)\]|(\.?\[\])|\.([A-Za-z_][\w-]*)|\."([^"]*)")/y
const selected = /^select\s*\(\s*(.+?)\s*(==|!=)\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null)\s*\)$/

/** Throws an Error for unsupported syntax. */
export function parsePathExpression(text: string): PathExpression {
  const steps = split(text).flatMap((part) => stepsOf(part.trim(), text))
  return (object) =>
    steps
      .reduce<readonly unknown[]>((values, step) => values.flatMap(step), [object])
      .filter((value) => value !== undefined && value !== null)
}

/** Splits at pipes outside of strings. */
const split = (text: string): string[] => text.match(/(?:"[^"]*"|[^"|])+/g) ?? []

function stepsOf(part: string, whole: string): Step[] {
  if (part === '.') return []
  const condition = selected.exec(part)
  if (condition) {
    const [, path = '', operator, literal = ''] = condition
    const find = parsePathExpression(path)
    const wanted: unknown = JSON.parse(literal)
    return [(value) => (((find(value)[0] ?? null) === wanted) === (operator === '==') ? [value] : [])]
  }
  const steps: Step[] = []
  token.lastIndex = 0
  while (token.lastIndex < part.length) {
    const match = token.exec(part)
    if (!match)
      throw new Error(
        `the expression ${JSON.stringify(whole)} is not supported at ${JSON.stringify(part)}: use paths, [], pipes ` +
          'and select(… == …)',
      )
    const [, quoted, index, all, name, other] = match
    if (all)
      steps.push((value) =>
        Array.isArray(value) ? value : typeof value === 'object' && value !== null ? Object.values(value) : [],
      )
    else if (index !== undefined) steps.push((value) => (Array.isArray(value) ? [value.at(Number(index))] : []))
    else steps.push(memberStep(quoted ?? name ?? other ?? ''))
  }
  return steps
}

const memberStep =
  (name: string): Step =>
  (value) =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      ? [(value as Record<string, unknown>)[name]]
      : []
