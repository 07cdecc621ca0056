/**
 * A kubeconfig's text as a document that can be changed: comments, unknown fields, quotes and the order of things stay
 * as they are, and JSON stays JSON. Scalars are texts here, whatever YAML would take them for, so that nothing that is
 * not changed is written in another way.
 */
import { Document, isMap, isScalar, isSeq, parseDocument, Scalar, visit, type YAMLMap, YAMLSeq } from 'yaml'
import { ExplainedError } from '../../lib/explained-error.ts'
import { own } from '../../lib/own.ts'
import { duplicateName, type EntryKind, firstDuplicate } from '../kubeconfig-file.ts'
import { type JsonLayout, jsonLayout, jsonText } from './json-text.ts'

/** The lists of a kubeconfig, by what each entry is wrapped in: `clusters[].cluster`. */
const sections = { context: 'contexts', cluster: 'clusters', user: 'users' } as const

const currentContext = 'current-context'

/** An entry with more is one that was made to grow. */
const maxAliases = 1000

/** A field without a value stays one. */
const nothing = {
  tag: 'tag:yaml.org,2002:null',
  default: true,
  test: /^$/,
  identify: (value: unknown) => value === null,
  createNode: () => new Scalar(null),
  resolve: () => new Scalar(null),
  stringify: () => '',
} as const

/** How a text that is not YAML, or no kubeconfig, is told of: what is wrong with it. */
export type Refusal = (why: string) => ExplainedError

/** The refusal of a file that is to be changed. */
export const notAKubeconfig =
  (file: string): Refusal =>
  (why) =>
    new ExplainedError(`${file} is not a kubeconfig (${why}): it was left as it is; mend it, or name another file`)

export class ConfigDocument {
  readonly #document: Document
  readonly #refuse: Refusal
  /** Lists stand below their names without being indented, as kubectl writes them. */
  readonly #indentSeq: boolean
  readonly #lineEnd: string
  /** Where the text is JSON. */
  readonly #json: JsonLayout | undefined
  /** Entries by their names; a kind that was changed is read anew. */
  readonly #found = new Map<EntryKind, ReadonlyMap<string, YAMLMap>>()

  /** An empty text is an empty kubeconfig. Throws what `refuse` makes for a text that is none. */
  constructor(text: string, refuse: Refusal) {
    this.#refuse = refuse
    const empty = text.trim() === ''
    this.#document = parseDocument(empty ? 'apiVersion: v1\nkind: Config\n' : text, {
      schema: 'failsafe',
      customTags: [nothing],
    })
    const [problem] = this.#document.errors
    if (problem) throw refuse(problem.message.split('\n')[0] ?? problem.message)
    if (!isMap(this.#document.contents)) throw refuse('it holds no fields')
    for (const kind of Object.keys(sections) as EntryKind[]) this.#refuseDuplicates(kind)
    this.#json = jsonLayout(text)
    this.#lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
    const indented = /^(?:clusters|users|contexts):.*\r?\n(?:[ \t]*(?:#.*)?\r?\n)*( *)- /m.exec(text)?.[1]
    this.#indentSeq = indented !== undefined && indented !== ''
  }

  /** The name of the current context; undefined for none. */
  get currentContext(): string | undefined {
    return textOf(this.#document.get(currentContext, true))
  }

  set currentContext(name: string | undefined) {
    const present = this.#document.get(currentContext, true)
    const scalar = scalarOf(name ?? '')
    // In its place, with its comment.
    if (isScalar(present)) {
      present.value = scalar.value
      present.type = scalar.type
    } else this.#document.set(currentContext, scalar)
  }

  /** The names of the entries of that kind, in their order. */
  names(kind: EntryKind): string[] {
    return this.#entries(kind).flatMap((entry) => textOf(entry.get('name', true)) ?? [])
  }

  has(kind: EntryKind, name: string): boolean {
    return this.#find(kind, name) !== undefined
  }

  /** A text in an entry (`context.cluster`), undefined if it has none. */
  text(kind: EntryKind, name: string, field: string): string | undefined {
    return textOf(this.#body(kind, name)?.get(field, true))
  }

  /** Sets a text in an entry that is there. */
  setText(kind: EntryKind, name: string, field: string, value: string): void {
    const body = this.#body(kind, name)
    const present = body?.get(field, true)
    const scalar = scalarOf(value)
    if (isScalar(present)) {
      present.value = scalar.value
      present.type = scalar.type
    } else body?.set(new Scalar(field), scalar)
  }

  /** Takes a field out of an entry. */
  deleteField(kind: EntryKind, name: string, field: string): void {
    this.#body(kind, name)?.delete(field)
  }

  /**
   * The entry as a node that may be put into another document; undefined if there is none. Aliases in it are written
   * out.
   */
  copyOf(kind: EntryKind, name: string): ConfigEntry | undefined {
    const entry = this.#find(kind, name)
    if (!entry) return undefined
    const node = entry.clone() as YAMLMap
    let aliases = 0
    visit(node, {
      // Entries of JSON read better below each other.
      Collection: (_, collection) => {
        if (this.#json) collection.flow = collection.items.length === 0
      },
      Alias: (_, alias) => {
        const meant = alias.resolve(this.#document)
        if (!meant || ++aliases > maxAliases) throw this.#refuse(`${name} has aliases that cannot be written out`)
        const copy = meant.clone() as typeof meant
        delete copy.anchor
        return copy
      },
    })
    return { kind, name, node, plain: plainOf(node) }
  }

  /** Puts an entry in the place of the one of that name, or at the end. */
  put({ kind, name, node }: ConfigEntry): void {
    this.#found.delete(kind)
    const list = this.#list(kind) ?? this.#newList(kind)
    // An empty list is written `[]`; entries read better below each other.
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

  /** Takes the entries of that name out. */
  remove(kind: EntryKind, name: string): void {
    const list = this.#list(kind)
    if (!list) return
    this.#found.delete(kind)
    list.items = list.items.filter((item) => !(isMap(item) && textOf(item.get('name', true)) === name))
    if (list.items.length === 0) list.flow = true
  }

  /** Gives an entry another name. */
  rename(kind: EntryKind, name: string, newName: string): void {
    const scalar = this.#find(kind, name)?.get('name', true)
    if (!isScalar(scalar)) return
    const { value, type } = scalarOf(newName)
    scalar.value = value
    scalar.type = type
    this.#found.delete(kind)
  }

  /**
   * The text, which is as it was read where nothing was changed. Throws the refusal for what cannot be written, such as
   * an alias whose anchor has gone.
   */
  toString(): string {
    try {
      if (this.#json) return this.#inLines(jsonText(this.#document.contents, this.#json))
      const text = this.#document.toString({ lineWidth: 0, flowCollectionPadding: false, indentSeq: this.#indentSeq })
      return this.#inLines(text)
    } catch (error) {
      throw this.#refuse(error instanceof Error ? error.message : String(error))
    }
  }

  #inLines(text: string): string {
    return this.#lineEnd === '\n' ? text : text.replaceAll('\n', this.#lineEnd)
  }

  /** kubectl reads no kubeconfig in which two entries have one name. */
  #refuseDuplicates(kind: EntryKind): void {
    const name = firstDuplicate(
      (this.#list(kind)?.items ?? []).map((item) => (isMap(item) && textOf(item.get('name', true))) || ''),
    )
    if (name !== undefined) throw this.#refuse(duplicateName(name, sections[kind]))
  }

  #entries(kind: EntryKind): YAMLMap[] {
    return (this.#list(kind)?.items ?? []).filter((item) => isMap(item))
  }

  #find(kind: EntryKind, name: string): YAMLMap | undefined {
    let entries = this.#found.get(kind)
    if (!entries) {
      entries = new Map(this.#entries(kind).map((entry) => [textOf(entry.get('name', true)) ?? '', entry] as const))
      this.#found.set(kind, entries)
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
    throw this.#refuse(`${sections[kind]} is no list`)
  }

  #newList(kind: EntryKind): YAMLSeq {
    const list = new YAMLSeq()
    this.#document.set(sections[kind], list)
    return list
  }
}

/** An entry on its way from one document to another. */
export interface ConfigEntry {
  readonly kind: EntryKind
  readonly name: string
  readonly node: YAMLMap
  /** What it says, as texts. */
  readonly plain: object
}

/** A text in an entry, at a path such as `exec.command`; undefined if it has none. */
export function entryText({ kind, plain }: ConfigEntry, path: string): string | undefined {
  let value: unknown = plain
  for (const key of [kind, ...path.split('.')])
    value =
      typeof value === 'object' && value !== null ? own(value as Readonly<Record<string, unknown>>, key) : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * The entry under another name, with other texts in its body at paths such as `exec.command`; undefined takes a field
 * out.
 */
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

/** A text as YAML 1.1 and 1.2 both read it: what either could take for something else is quoted. */
function scalarOf(text: string): Scalar<string> {
  const scalar = new Scalar(text)
  const plain =
    /^[A-Za-z/][\w./:@+=-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) && !text.endsWith(':')
  scalar.type = plain ? Scalar.PLAIN : Scalar.QUOTE_DOUBLE
  return scalar
}

/** A text that is not empty. */
const textOf = (node: unknown): string | undefined =>
  isScalar(node) && typeof node.value === 'string' && node.value !== '' ? node.value : undefined

/** What a node without aliases says. */
const plainOf = (node: YAMLMap): object => node.toJS(new Document()) as object
