/** A list that somebody chooses from, as pure functions: arrows move, typing narrows. `choose.ts` shows it. */
import type { Press } from './terminal.ts'

export interface Choosable {
  readonly name: string
  /** Told behind the name. */
  readonly note: string
}

export interface Choice {
  readonly items: readonly Choosable[]
  /** What was typed. */
  readonly filter: string
  /** Which of the items that are left is meant. */
  readonly cursor: number
}

export type Decision =
  | { readonly is: 'open'; readonly choice: Choice }
  | { readonly is: 'chosen'; readonly name: string }
  | { readonly is: 'cancelled' }

/** The list as it is at first: `current` is meant, if it is one of them. */
export const newChoice = (items: readonly Choosable[], current?: string): Choice => ({
  items,
  filter: '',
  cursor: Math.max(
    0,
    items.findIndex(({ name }) => name === current),
  ),
})

/** Items with all words that were typed, in any order. */
export function left({ items, filter }: Choice): Choosable[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return items.filter(({ name, note }) => words.every((word) => `${name} ${note}`.toLowerCase().includes(word)))
}

/** What a key does. */
export function press(choice: Choice, { name, text, ctrl }: Press): Decision {
  const shown = left(choice)
  const at = Math.min(choice.cursor, Math.max(0, shown.length - 1))
  const moved = (cursor: number): Decision => ({ is: 'open', choice: { ...choice, cursor } })
  const narrowed = (filter: string): Decision => ({ is: 'open', choice: { ...choice, filter, cursor: 0 } })
  if (name === 'escape' || (ctrl && (name === 'c' || name === 'd'))) return { is: 'cancelled' }
  switch (ctrl ? `ctrl-${name}` : name) {
    case 'return':
    case 'enter': {
      const chosen = shown[at]
      return chosen ? { is: 'chosen', name: chosen.name } : moved(0)
    }
    case 'up':
    case 'ctrl-p':
      return moved(shown.length === 0 ? 0 : (at + shown.length - 1) % shown.length)
    case 'down':
    case 'ctrl-n':
    case 'tab':
      return moved(shown.length === 0 ? 0 : (at + 1) % shown.length)
    case 'home':
      return moved(0)
    case 'end':
      return moved(Math.max(0, shown.length - 1))
    case 'backspace':
      return narrowed([...choice.filter].slice(0, -1).join(''))
    case 'ctrl-u':
      return narrowed('')
    default:
      return text >= ' ' ? narrowed(choice.filter + text) : moved(at)
  }
}

/** The lines to be shown, no more than `rows` and none longer than `columns`. The one that is meant begins with `>`. */
export function lines(title: string, choice: Choice, rows: number, columns: number): string[] {
  const shown = left(choice)
  const room = Math.max(1, rows - 2)
  const at = Math.min(choice.cursor, Math.max(0, shown.length - 1))
  const first = Math.max(0, Math.min(at - Math.floor(room / 2), shown.length - room))
  const width = Math.max(0, ...shown.map(({ name }) => name.length))
  const items = shown
    .slice(first, first + room)
    .map(({ name, note }, index) => `${first + index === at ? '>' : ' '} ${name.padEnd(width)}  ${note}`.trimEnd())
  const help = shown.length === 0 ? '  nothing matches: Backspace takes letters back' : undefined
  return [
    `${title} ${choice.filter}`,
    ...(help ? [help] : items),
    '  arrows move, typing narrows, Return takes, Escape leaves',
  ].map((line) => line.slice(0, columns - 1))
}
