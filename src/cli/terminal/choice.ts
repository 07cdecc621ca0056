/** A list to choose from, as pure functions: arrows move, typing filters. `choose.ts` displays it. */
import type { Press } from './terminal.ts'

export interface Choosable {
  readonly name: string
  /** Shown after the name. */
  readonly note: string
}

export interface Choice {
  readonly items: readonly Choosable[]
  /** The typed text. */
  readonly filter: string
  /** Index of the selected item among those that match. */
  readonly cursor: number
}

export type Decision =
  | { readonly is: 'open'; readonly choice: Choice }
  | { readonly is: 'chosen'; readonly name: string }
  | { readonly is: 'cancelled' }

/** The initial list; selects `current` if it is one of the items. */
export const newChoice = (items: readonly Choosable[], current?: string): Choice => ({
  items,
  filter: '',
  cursor: Math.max(
    0,
    items.findIndex(({ name }) => name === current),
  ),
})

/** The items that contain all typed words, in any order. */
export function matching({ items, filter }: Choice): Choosable[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return items.filter(({ name, note }) => words.every((word) => `${name} ${note}`.toLowerCase().includes(word)))
}

/** Handles a key. */
export function press(choice: Choice, { name, text, ctrl }: Press): Decision {
  const shown = matching(choice)
  const at = Math.min(choice.cursor, Math.max(0, shown.length - 1))
  const moved = (cursor: number): Decision => ({ is: 'open', choice: { ...choice, cursor } })
  const filtered = (filter: string): Decision => ({ is: 'open', choice: { ...choice, filter, cursor: 0 } })
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
      return filtered([...choice.filter].slice(0, -1).join(''))
    case 'ctrl-u':
      return filtered('')
    default:
      return text >= ' ' ? filtered(choice.filter + text) : moved(at)
  }
}

/** The lines to show, at most `rows`, each shorter than `columns`. The selected one begins with `>`. */
export function lines(title: string, choice: Choice, rows: number, columns: number): string[] {
  const shown = matching(choice)
  const visible = Math.max(1, rows - 2)
  const at = Math.min(choice.cursor, Math.max(0, shown.length - 1))
  const first = Math.max(0, Math.min(at - Math.floor(visible / 2), shown.length - visible))
  const width = Math.max(0, ...shown.map(({ name }) => name.length))
  const items = shown
    .slice(first, first + visible)
    .map(({ name, note }, index) => `${first + index === at ? '>' : ' '} ${name.padEnd(width)}  ${note}`.trimEnd())
  const help = shown.length === 0 ? '  no match: Backspace deletes letters' : undefined
  return [
    `${title} ${choice.filter}`,
    ...(help ? [help] : items),
    '  arrows move, typing filters, Return chooses, Escape cancels',
  ].map((line) => line.slice(0, columns - 1))
}
