/** Changes of a table of nftables, each with its text in the syntax of `nft`, and its messages for the kernel. */
import { attribute, nested, text } from '../message.ts'
import { commentData, dataValue, dataVerdict, list, number32, number64, userData } from './attributes.ts'
import { type Batch, flags, types } from './batch.ts'
import type { Expression } from './expression.ts'
import { concatenatedType, type DataType, keyBytes, keyLength, type Verdict, verdictText } from './values.ts'

export interface Command {
  readonly text: string
  readonly write: (batch: Batch) => void
}

/** Connects a chain with a hook of the kernel. */
export interface BaseChain {
  readonly type: 'filter' | 'nat'
  readonly hook: keyof typeof hooks
  readonly priority: number
}

export interface TableSet {
  readonly name: string
  readonly keyTypes: readonly DataType[]
  /** A map whose values are verdicts. */
  readonly isVerdictMap?: boolean
  /** Rules add elements, which expire after this time. */
  readonly timeoutSeconds?: number
  readonly comment?: string
}

export interface Element {
  /** In the syntax of `nft`: `10.96.0.1 . tcp . 80`. */
  readonly key: string
  readonly verdict?: Verdict
  readonly comment?: string
}

export interface Rule {
  readonly expressions: readonly Expression[]
  readonly comment?: string
}

const hooks = { prerouting: 0, input: 1, forward: 2, output: 3, postrouting: 4 } as const
const setFlags = { map: 0x8, timeout: 0x10, dynamic: 0x20 } as const
const verdictType = 0xffffff00

const commentText = (comment: string | undefined): string => (comment === undefined ? '' : ` comment "${comment}"`)

export const addTable = (comment: string): Command => ({
  text: `add table {${commentText(comment)} ; }`,
  write: (batch) =>
    batch.add(types.newTable, flags.create, [text(1, batch.table), attribute(6, commentData(0, comment))]),
})

/** Deletes the table with all that it contains. */
export const deleteTable: Command = {
  text: 'delete table',
  write: (batch) => batch.add(types.deleteTable, 0, [text(1, batch.table)]),
}

/** Does nothing if the chain exists. */
export const addChain = (name: string, comment?: string, base?: BaseChain): Command => ({
  text: `add chain ${name}${base ? ` { type ${base.type} hook ${base.hook} priority ${base.priority} ; }` : ''}`,
  write: (batch) =>
    batch.add(types.newChain, flags.create, [
      text(1, batch.table),
      text(3, name),
      ...(base ? [nested(4, number32(1, hooks[base.hook]), number32(2, base.priority)), text(7, base.type)] : []),
      ...(comment === undefined ? [] : [attribute(12, commentData(0, comment))]),
    ]),
})

export const deleteChain = (name: string): Command => ({
  text: `delete chain ${name}`,
  write: (batch) => batch.add(types.deleteChain, 0, [text(1, batch.table), text(3, name)]),
})

/** Removes the rules of a chain; undefined: of all chains. */
export const flushChain = (name: string | undefined): Command => ({
  text: name === undefined ? 'flush table' : `flush chain ${name}`,
  write: (batch) =>
    batch.add(types.deleteRule, 0, [text(1, batch.table), ...(name === undefined ? [] : [text(2, name)])]),
})

/** The rule in the syntax of `nft`. */
export const ruleText = ({ expressions, comment }: Rule): string =>
  `${expressions.map((expression) => expression.text).join(' ')}${commentText(comment)}`

/** Appends a rule to a chain. */
export const addRule = (chain: string, { expressions, comment }: Rule): Command => ({
  get text() {
    return `add rule ${chain} ${ruleText({ expressions, ...(comment !== undefined && { comment }) })}`
  },
  write: (batch) => {
    const encoded = expressions.flatMap(({ encode }) => encode((set) => batch.addAnonymousSet(set)))
    batch.add(types.newRule, flags.create | flags.append, [
      text(1, batch.table),
      text(2, chain),
      nested(4, ...encoded),
      ...(comment === undefined ? [] : [attribute(7, commentData(0, comment))]),
    ])
  },
})

/** Does nothing if an equal set exists. */
export const addSet = (set: TableSet): Command => ({
  text:
    `add ${set.isVerdictMap ? 'map' : 'set'} ${set.name} { type ${set.keyTypes.map(({ name }) => name).join(' . ')}` +
    `${set.isVerdictMap ? ' : verdict' : ''} ;` +
    `${set.timeoutSeconds === undefined ? '' : ` flags dynamic,timeout ; timeout ${set.timeoutSeconds}s ;`}` +
    `${set.comment === undefined ? '' : `${commentText(set.comment)} ;`} }`,
  write: (batch) => batch.add(types.newSet, flags.create, setAttributes(batch, set)),
})

const isBigEndian = 2

function setAttributes(batch: Batch, { name, keyTypes, isVerdictMap, timeoutSeconds, comment }: TableSet): Buffer[] {
  const hasTimeout = timeoutSeconds !== undefined
  const flagBits = (isVerdictMap ? setFlags.map : 0) | (hasTimeout ? setFlags.timeout | setFlags.dynamic : 0)
  return [
    text(1, batch.table),
    text(2, name),
    number32(3, flagBits),
    number32(4, concatenatedType(keyTypes)),
    number32(5, keyLength(keyTypes)),
    ...(isVerdictMap ? [number32(6, verdictType), number32(7, 0)] : []),
    number32(10, batch.nextSetId()),
    ...(hasTimeout ? [number64(11, timeoutSeconds * 1000)] : []),
    attribute(
      13,
      Buffer.concat([
        userData(0, Buffer.from([isBigEndian, 0, 0, 0])),
        ...(comment === undefined ? [] : [commentData(7, comment)]),
      ]),
    ),
  ]
}

export const deleteSet = (name: string): Command => ({
  text: `delete set ${name}`,
  write: (batch) => batch.add(types.deleteSet, 0, [text(1, batch.table), text(2, name)]),
})

/** The lengths of attributes have 16 bits. */
const elementsInMessage = 100

export const addElements = (set: TableSet, elements: readonly Element[]): Command => ({
  get text() {
    return `add element ${set.name} { ${elements.map(elementText).join(', ')} }`
  },
  write: (batch) => {
    const encoded = elements.map((element) => elementAttributes(set, element))
    writeElements(batch, types.newElement, flags.create, set.name, encoded)
  },
})

export const deleteElements = (set: TableSet, keys: readonly string[]): Command => ({
  get text() {
    return `delete element ${set.name} { ${keys.join(', ')} }`
  },
  write: (batch) => {
    const encoded = keys.map((key) => keyAttribute(set, key))
    writeElements(batch, types.deleteElement, 0, set.name, encoded)
  },
})

const elementText = ({ key, verdict, comment }: Element): string =>
  `${key}${commentText(comment)}${verdict ? ` : ${verdictText(verdict)}` : ''}`

const keyAttribute = ({ keyTypes }: TableSet, key: string): Buffer => dataValue(1, keyBytes(keyTypes, key))

const elementAttributes = (set: TableSet, { key, verdict, comment }: Element): Buffer =>
  Buffer.concat([
    keyAttribute(set, key),
    ...(verdict ? [dataVerdict(2, verdict)] : []),
    ...(comment === undefined ? [] : [attribute(6, commentData(0, comment))]),
  ])

function writeElements(batch: Batch, type: number, flagBits: number, set: string, elements: readonly Buffer[]): void {
  for (let at = 0; at < elements.length; at += elementsInMessage)
    batch.add(type, flagBits, [text(1, batch.table), text(2, set), list(3, elements.slice(at, at + elementsInMessage))])
}
