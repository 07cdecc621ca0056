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
  readonly element: SetElement
}

/** The Services that want an element, in the order of their wishes: the first is in effect. Mostly there is one. */
type Wishes = Wish | readonly Wish[]

const listOf = (wishes: Wishes | undefined): readonly Wish[] =>
  wishes === undefined ? [] : 'service' in wishes ? [wishes] : wishes

export class SetContents {
  readonly #sets = new Map<string, Map<string, Wishes>>()

  /** Replaces what a Service wants; returns the changes of the sets. */
  replace(service: string, old: readonly SetElement[], wanted: readonly SetElement[]): ElementChanges {
    const before = new Map<string, { readonly item: SetElement; readonly value: SetElement | undefined }>()
    const note = (item: SetElement): void => {
      const id = `${item.set.name} ${item.key}`
      if (!before.has(id)) before.set(id, { item, value: this.#effective(item) })
    }
    const isWanted = new Set(old.length === 0 ? [] : wanted.map(wishId))
    for (const item of old) {
      if (isWanted.has(wishId(item))) continue
      note(item)
      this.#remove(service, item)
    }
    for (const item of wanted) {
      note(item)
      this.#add(service, item)
    }
    const changes = new ElementChanges()
    for (const { item, value } of before.values()) {
      const now = this.#effective(item)
      if (value && now && elementId(value) === elementId(now)) continue
      if (value) changes.delete(item.set, item.key)
      if (now) changes.add(item.set, now)
    }
    return changes
  }

  #effective({ set, key }: SetElement): SetElement | undefined {
    return listOf(this.#sets.get(set.name)?.get(key))[0]?.element
  }

  #add(service: string, element: SetElement): void {
    const elements = this.#sets.get(element.set.name) ?? new Map<string, Wishes>()
    this.#sets.set(element.set.name, elements)
    const known = elements.get(element.key)
    if (!known) elements.set(element.key, { service, element })
    // Ports of one Service have elements in common.
    else if (!listOf(known).some((wish) => isSame(wish, service, element)))
      elements.set(element.key, [...listOf(known), { service, element }])
  }

  #remove(service: string, element: SetElement): void {
    const elements = this.#sets.get(element.set.name)
    const left = listOf(elements?.get(element.key)).filter((wish) => !isSame(wish, service, element))
    const [first] = left
    if (first) elements?.set(element.key, left.length === 1 ? first : left)
    else elements?.delete(element.key)
  }
}

const isSame = (wish: Wish, service: string, element: SetElement): boolean =>
  wish.service === service && elementId(wish.element) === elementId(element)

const wishId = (item: SetElement): string => `${item.set.name} ${elementId(item)}`

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
