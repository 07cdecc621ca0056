/**
 * An editable kubeconfig that preserves comments, unknown fields, quotes and order, and keeps JSON as JSON. Scalars are
 * strings regardless of their YAML type, so that unchanged values are written as they were read.
 */
import { Document, isMap, isScalar, isSeq, parseDocument, Scalar, visit, type YAMLMap, YAMLSeq } from 'yaml'
import { duplicateName, type EntryKind, firstDuplicate } from '../../../kubeconfig/kubeconfig-file.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { own } from '../../../lib/own.ts'
import { type JsonLayout, jsonLayout, jsonText } from './json-text.ts'

/** The lists of a kubeconfig, by the field that wraps each entry: `clusters[].cluster`. */
const sections = { context: 'contexts', cluster: 'clusters', user: 'users' } as const

const currentContext = 'current-context'

/** Limits the expansion of aliases, against documents that grow exponentially. */
const maxAliases = 1000

/** Preserves fields without a value. */
const nothing = {
  tag: 'tag:yaml.org,2002:null',
  default: true,
  test: /^$/,
  identify: (value: unknown) => value === null,
  createNode: () => new Scalar(null),
  resolve: () => new Scalar(null),
  stringify: () => '',
} as const

/** Creates the error for a text that is not a kubeconfig. */
export type ErrorFactory = (why: string) => ExplainedError

/** The error for a file that was to be changed. */
export const notAKubeconfig =
  (file: string): ErrorFactory =>
  (why) =>
    new ExplainedError(`${file} is not a kubeconfig (${why}): it was not changed; fix it, or name another file`)

export class ConfigDocument {
  readonly #document: Document
  readonly #invalid: ErrorFactory
  /** False if lists are not indented below their names, as kubectl writes them. */
  readonly #indentSeq: boolean
  readonly #lineEnd: string
  /** Set if the text is JSON. */
  readonly #json: JsonLayout | undefined
  /** Cached entries by name; dropped when a kind is changed. */
  readonly #cache = new Map<EntryKind, ReadonlyMap<string, YAMLMap>>()

  /** An empty text is an empty kubeconfig. Throws the error of `invalid` for a text that is not a kubeconfig. */
  constructor(text: string, invalid: ErrorFactory) {
    this.#invalid = invalid
    const empty = text.trim() === ''
    this.#document = parseDocument(empty ? 'apiVersion: v1\nkind: Config\n' : text, {
      schema: 'failsafe',
      customTags: [nothing],
    })
    const [problem] = this.#document.errors
    if (problem) throw invalid(problem.message.split('\n')[0] ?? problem.message)
    if (!isMap(this.#document.contents)) throw invalid('it has no fields')
    for (const kind of Object.keys(sections) as EntryKind[]) this.#rejectDuplicates(kind)
    this.#json = jsonLayout(text)
    this.#lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
    const indented = /^(?:clusters|users|contexts):.*\r?\n(?:[ \t]*(?:#.*)?\r?\n)*( *)- /m.exec(text)?.[1]
    this.#indentSeq = indented !== undefined && indented !== ''
  }

  /** The name of the current context, if any. */
  get currentContext(): string | undefined {
    return textOf(this.#document.get(currentContext, true))
  }

  set currentContext(name: string | undefined) {
    const present = this.#document.get(currentContext, true)
    const scalar = scalarOf(name ?? '')
    // Replace in place to keep the comment.
    if (isScalar(present)) {
      present.value = scalar.value
      present.type = scalar.type
    } else this.#document.set(currentContext, scalar)
  }

  /** The names of the entries of a kind, in order. */
  names(kind: EntryKind): string[] {
    return this.#entries(kind).flatMap((entry) => textOf(entry.get('name', true)) ?? [])
  }

  has(kind: EntryKind, name: string): boolean {
    return this.#find(kind, name) !== undefined
  }

  /** A text field of an entry (`context.cluster`), if any. */
  text(kind: EntryKind, name: string, field: string): string | undefined {
    return textOf(this.#body(kind, name)?.get(field, true))
  }

  /** Sets a text field of an existing entry. */
  setText(kind: EntryKind, name: string, field: string, value: string): void {
    const body = this.#body(kind, name)
    const present = body?.get(field, true)
    const scalar = scalarOf(value)
    if (isScalar(present)) {
      present.value = scalar.value
      present.type = scalar.type
    } else body?.set(new Scalar(field), scalar)
  }

  /** Removes a field of an entry. */
  deleteField(kind: EntryKind, name: string, field: string): void {
    this.#body(kind, name)?.delete(field)
  }

  /** Returns a copy of an entry, with aliases resolved, that can be put into another document. */
  copyOf(kind: EntryKind, name: string): ConfigEntry | undefined {
    const entry = this.#find(kind, name)
    if (!entry) return undefined
    const node = entry.clone() as YAMLMap
    let aliases = 0
    visit(node, {
      // Entries from JSON are written as YAML blocks.
      Collection: (_, collection) => {
        if (this.#json) collection.flow = collection.items.length === 0
      },
      Alias: (_, alias) => {
        const target = alias.resolve(this.#document)
        if (!target || ++aliases > maxAliases) throw this.#invalid(`${name} has aliases that cannot be resolved`)
        const copy = target.clone() as typeof target
        delete copy.anchor
        return copy
      },
    })
    return { kind, name, node, plain: plainOf(node) }
  }

  /** Replaces the entry with that name, or appends it. */
  put({ kind, name, node }: ConfigEntry): void {
    this.#cache.delete(kind)
    const list = this.#list(kind) ?? this.#newList(kind)
    // An empty list is `[]`; write its entries as blocks.
    if (list.items.length === 0) list.flow = false
    const copy = node.clone() as YAMLMap
    copy.set('name', scalarOf(name))
    const at = list.items.findIndex((item) => isMap(item) && textOf(item.get('name', true)) === name)
    const old = list.items[at]
    if (!isMap(old)) list.items.push(copy)
    else {
      copy.commentBefore = old.commentBefore ?? copy.commentBefore
      copy.spaceBefore = old.spaceBefore
      list.items[at] = copy
    }
  }

  /** Removes the entries with that name. */
  remove(kind: EntryKind, name: string): void {
    const list = this.#list(kind)
    if (!list) return
    this.#cache.delete(kind)
    list.items = list.items.filter((item) => !(isMap(item) && textOf(item.get('name', true)) === name))
    if (list.items.length === 0) list.flow = true
  }

  /** Renames an entry. */
  rename(kind: EntryKind, name: string, newName: string): void {
    const scalar = this.#find(kind, name)?.get('name', true)
    if (!isScalar(scalar)) return
    const { value, type } = scalarOf(newName)
    scalar.value = value
    scalar.type = type
    this.#cache.delete(kind)
  }

  /**
   * Returns the text; unchanged parts are as they were read. Throws the error of the constructor's `invalid` if it
   * cannot be written, for example an alias without its anchor.
   */
  toString(): string {
    try {
      if (this.#json) return this.#inLines(jsonText(this.#document.contents, this.#json))
      const text = this.#document.toString({ lineWidth: 0, flowCollectionPadding: false, indentSeq: this.#indentSeq })
      return this.#inLines(text)
    } catch (error) {
      throw this.#invalid(error instanceof Error ? error.message : String(error))
    }
  }

  #inLines(text: string): string {
    return this.#lineEnd === '\n' ? text : text.replaceAll('\n', this.#lineEnd)
  }

  /** kubectl rejects kubeconfigs with duplicate names. */
  #rejectDuplicates(kind: EntryKind): void {
    const name = firstDuplicate(
      (this.#list(kind)?.items ?? []).map((item) => (isMap(item) && textOf(item.get('name', true))) || ''),
    )
    if (name !== undefined) throw this.#invalid(duplicateName(name, sections[kind]))
  }

  #entries(kind: EntryKind): YAMLMap[] {
    return (this.#list(kind)?.items ?? []).filter((item) => isMap(item))
  }

  #find(kind: EntryKind, name: string): YAMLMap | undefined {
    let entries = this.#cache.get(kind)
    if (!entries) {
      entries = new Map(this.#entries(kind).map((entry) => [textOf(entry.get('name', true)) ?? '', entry] as const))
      this.#cache.set(kind, entries)
    }
    return name === '' ? undefined : entries.get(name)
  }

  #body(kind: EntryKind, name: string): YAMLMap | undefined {
    const body = this.#find(kind, name)?.get(kind, true)
    return isMap(body) ? body : undefined
  }

  #list(kind: EntryKind): YAMLSeq | undefined {
    const node = this.#document.get(sections[kind], true)
    if (isSeq(node)) return node
    if (
      node === undefined ||
      (isScalar(node) &&
        (node.value === null || (node.type === Scalar.PLAIN && /^(~|null)?$/i.test(String(node.value)))))
    )
      return undefined
    throw this.#invalid(`${sections[kind]} is not a list`)
  }

  #newList(kind: EntryKind): YAMLSeq {
    const list = new YAMLSeq()
    this.#document.set(sections[kind], list)
    return list
  }
}

/** A copy of an entry, independent of its document. */
export interface ConfigEntry {
  readonly kind: EntryKind
  readonly name: string
  readonly node: YAMLMap
  /** The content with strings as scalars. */
  readonly plain: object
}

/** A text field of an entry at a path such as `exec.command`, if any. */
export function entryText({ kind, plain }: ConfigEntry, path: string): string | undefined {
  let value: unknown = plain
  for (const key of [kind, ...path.split('.')])
    value =
      typeof value === 'object' && value !== null ? own(value as Readonly<Record<string, unknown>>, key) : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns a copy with another name and changed fields at paths such as `exec.command`; undefined removes a field. */
export function changedEntry(
  entry: ConfigEntry,
  name: string,
  fields: Readonly<Record<string, string | undefined>> = {},
): ConfigEntry {
  const node = entry.node.clone() as YAMLMap
  const body = node.get(entry.kind, true)
  if (isMap(body)) {
    for (const [field, value] of Object.entries(fields)) {
      const path = field.split('.')
      if (value === undefined) body.deleteIn(path)
      else body.setIn(path, scalarOf(value))
    }
  }
  return { ...entry, name, node, plain: plainOf(node) }
}

/** Creates a scalar that YAML 1.1 and 1.2 both read as this string; quotes it if necessary. */
function scalarOf(text: string): Scalar<string> {
  const scalar = new Scalar(text)
  const plain =
    /^[A-Za-z/][\w./:@+=-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) && !text.endsWith(':')
  scalar.type = plain ? Scalar.PLAIN : Scalar.QUOTE_DOUBLE
  return scalar
}

/** The value of a non-empty string scalar. */
const textOf = (node: unknown): string | undefined =>
  isScalar(node) && typeof node.value === 'string' && node.value !== '' ? node.value : undefined

/** Converts a node without aliases to a plain object. */
const plainOf = (node: YAMLMap): object => node.toJS(new Document()) as object
