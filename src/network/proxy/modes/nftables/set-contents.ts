/** The elements of the table's common sets. Several Services may want one, as two with the same endpoint do. */
import {
  addElements,
  type Command,
  deleteElements,
  type Element,
  type TableSet,
} from '../../../netlink/nftables/commands.ts'
import { verdictText } from '../../../netlink/nftables/values.ts'
import type { SetElement } from './port-elements.ts'

interface Wish {
  readonly service: string
  readonly element: Element
}

/** The Services that want an element, in the order of their wishes: the first is in effect. */
type Wishes = readonly Wish[]

export class SetContents {
  readonly #sets = new Map<string, Map<string, Wishes>>()

  /** Replaces what a Service wants; returns the changes of the sets. */
  replace(service: string, old: readonly SetElement[], wanted: readonly SetElement[]): ElementChanges {
    const before = new Map<string, { readonly set: TableSet; readonly value: Element | undefined }>()
    const note = ({ set, element }: SetElement): void => {
      const id = `${set.name} ${element.key}`
      if (!before.has(id)) before.set(id, { set, value: this.#effective(set, element.key) })
    }
    const isWanted = new Set(wanted.map(({ set, element }) => `${set.name} ${elementId(element)}`))
    for (const item of old) {
      if (isWanted.has(`${item.set.name} ${elementId(item.element)}`)) continue
      note(item)
      this.#remove(service, item)
    }
    for (const item of wanted) {
      note(item)
      this.#add(service, item)
    }
    const changes = new ElementChanges()
    for (const [id, { set, value }] of before) {
      const key = id.slice(set.name.length + 1)
      const now = this.#effective(set, key)
      if (value && now && elementId(value) === elementId(now)) continue
      if (value) changes.delete(set, key)
      if (now) changes.add(set, now)
    }
    return changes
  }

  #effective(set: TableSet, key: string): Element | undefined {
    return this.#sets.get(set.name)?.get(key)?.[0]?.element
  }

  #add(service: string, { set, element }: SetElement): void {
    const elements = this.#sets.get(set.name) ?? new Map<string, Wishes>()
    this.#sets.set(set.name, elements)
    const wishes = elements.get(element.key)
    // Ports of one Service have elements in common.
    const isKnown = wishes?.some((wish) => wish.service === service && elementId(wish.element) === elementId(element))
    if (!isKnown) elements.set(element.key, [...(wishes ?? []), { service, element }])
  }

  #remove(service: string, { set, element }: SetElement): void {
    const elements = this.#sets.get(set.name)
    const left = elements
      ?.get(element.key)
      ?.filter((wish) => wish.service !== service || elementId(wish.element) !== elementId(element))
    if (left && left.length > 0) elements?.set(element.key, left)
    else elements?.delete(element.key)
  }
}

/** Elements that are equal in all that the kernel knows. */
const elementId = ({ key, verdict, comment = '' }: Element): string =>
  `${key} ${verdict ? verdictText(verdict) : ''} ${comment}`

/** Changes of several sets. */
export class ElementChanges {
  readonly #deleted = new Map<TableSet, string[]>()
  readonly #added = new Map<TableSet, Element[]>()

  delete(set: TableSet, key: string): void {
    const keys = this.#deleted.get(set)
    if (keys) keys.push(key)
    else this.#deleted.set(set, [key])
  }

  add(set: TableSet, element: Element): void {
    const elements = this.#added.get(set)
    if (elements) elements.push(element)
    else this.#added.set(set, [element])
  }

  merge(other: ElementChanges): void {
    for (const [set, keys] of other.#deleted) for (const key of keys) this.delete(set, key)
    for (const [set, elements] of other.#added) for (const element of elements) this.add(set, element)
  }

  /** First the deletions: a key may get another verdict. */
  commands(): Command[] {
    return [
      ...[...this.#deleted].map(([set, keys]) => deleteElements(set, keys)),
      ...[...this.#added].map(([set, elements]) => addElements(set, elements)),
    ]
  }
}
