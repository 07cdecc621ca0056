/** Reads a kubeconfig: the entries of its lists, and the files that they name. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../lib/explained-error.ts'
import { fromYaml } from '../machinery/yaml.ts'

/** The lists of a kubeconfig, by the field that wraps each entry: `clusters[].cluster`. */
const lists = { context: 'contexts', cluster: 'clusters', user: 'users' } as const

export type EntryKind = keyof typeof lists

type Fields = Readonly<Record<string, unknown>>

/** An entry; its paths are relative to the folder of the file. */
export interface KubeconfigEntry {
  readonly fields: Fields
  readonly folder: string
}

export interface KubeconfigFile {
  readonly file: string
  readonly currentContext: string | undefined
  /** The entries of a kind by name. Throws an ExplainedError for duplicate and non-string names, as kubectl does. */
  entries(kind: EntryKind): ReadonlyMap<string, KubeconfigEntry>
}

/** Rejects with an ExplainedError for an unreadable or invalid file. */
export async function readKubeconfigFile(file: string): Promise<KubeconfigFile> {
  const content = await contentOf(file)
  const folder = dirname(resolve(file))
  // An empty file is an empty kubeconfig, as in kubectl.
  const config = fieldsOf(parsed(file, content) ?? {})
  if (!config) throw notUsable(file, 'it has no fields')
  return {
    file,
    currentContext: text(config['current-context']),
    entries(kind) {
      const listed = config[lists[kind]]
      const entries = new Map<string, KubeconfigEntry>()
      const duplicate = firstDuplicate(
        Array.isArray(listed) ? listed.map((entry) => `${fieldsOf(entry)?.name ?? ''}`) : [],
      )
      if (duplicate !== undefined)
        throw notUsable(file, `${duplicateName(duplicate, lists[kind])}; rename or remove one of them`)
      for (const entry of Array.isArray(listed) ? listed.map(fieldsOf) : []) {
        if (typeof entry?.name === 'number' || typeof entry?.name === 'boolean')
          throw notUsable(file, `the name ${entry.name} in ${lists[kind]} is not a string in YAML: put it in quotes`)
        const name = text(entry?.name)
        if (name) entries.set(name, { fields: fieldsOf(entry?.[kind]) ?? {}, folder })
      }
      return entries
    },
  }
}

/** The first duplicate name. */
export const firstDuplicate = (names: readonly string[]): string | undefined =>
  names.find((name, i) => names.indexOf(name) < i)

/** clientcmd's message. */
export const duplicateName = (name: string, list: string): string =>
  `duplicate name ${JSON.stringify(name)} in list of ${list}`

export const notUsable = (file: string, why: string): ExplainedError =>
  new ExplainedError(`the kubeconfig ${file} cannot be used: ${why}`)

/** PEM from `NAME-data` in base64, or from the file `NAME`. Rejects with an ExplainedError that names the file. */
export async function pemOf({ fields, folder }: KubeconfigEntry, name: string): Promise<string | undefined> {
  const data = text(fields[`${name}-data`])
  if (data) return Buffer.from(data, 'base64').toString()
  const file = text(fields[name])
  return file && contentOf(resolve(folder, file))
}

/** Returns the value if it is a non-empty string. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

function contentOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error) => {
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
  })
}

function parsed(file: string, content: string): unknown {
  try {
    return fromYaml(content)
  } catch (error) {
    throw notUsable(file, error instanceof Error ? error.message : String(error))
  }
}

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
