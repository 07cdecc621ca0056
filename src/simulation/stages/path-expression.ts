/**
 * The part of jq that stages select with: `.status.conditions.[] | select(.type == "Ready") | .status`,
 * `.metadata.annotations["a/b"]`.
 */

/** Gives all values that an expression finds in an object; null and what is missing is not among them. */
export type PathExpression = (object: unknown) => readonly unknown[]

type Step = (value: unknown) => readonly unknown[]

const token = /\s*(?:\.?\["([^"]*)"\]|\.?\[(-?\d+)\]|(\.?\[\])|\.([A-Za-z_][\w-]*)|\."([^"]*)")/y
const selected = /^select\s*\(\s*(.+?)\s*(==|!=)\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null)\s*\)$/

/** Throws an Error for what is not understood. */
export function parsePathExpression(text: string): PathExpression {
  const steps = split(text).flatMap((part) => stepsOf(part.trim(), text))
  return (object) =>
    steps
      .reduce<readonly unknown[]>((values, step) => values.flatMap(step), [object])
      .filter((value) => value !== undefined && value !== null)
}

/** At pipes that stand in no string. */
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
        `the expression ${JSON.stringify(whole)} is not understood at ${JSON.stringify(part)}: paths, [], pipes ` +
          'and select(… == …) are',
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
