/** A kubeconfig with one context alone, its cluster and its user, that holds from anywhere. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { ConfigDocument, type ConfigEntry, notAKubeconfig } from '../documents/config-document.ts'
import { replaceFile } from '../files/replace-file.ts'
import { incomingContext, selfContainedEntry } from '../import/incoming.ts'
import { localSource } from '../import/source.ts'
import { existing } from './change-contexts.ts'
import { ConfigSet } from './config-set.ts'

/**
 * Its text; the context is the current one. Rejects with an ExplainedError if there is no such context, or something of
 * it is missing.
 */
export async function exportedContext(files: readonly string[], name: string, embed: boolean): Promise<string> {
  const config = readConfigSet(files)
  existing(config, name)
  const exported = new ConfigDocument('', notAKubeconfig('what is exported'))
  for (const kind of ['cluster', 'context', 'user'] as const) {
    const part = kind === 'context' ? name : config.text('context', name, kind)
    const from = part === undefined ? undefined : config.origin(kind, part)
    // What is missing is told below.
    if (part !== undefined && from) exported.put(await standing(from.document.copyOf(kind, part)!, from.file, embed))
  }
  incomingContext(exported, files.join(', '), name)
  exported.currentContext = name
  return exported.toString()
}

/** Writes it, readable by its owner alone. Throws an ExplainedError if the file is there already. */
export function writeExport(file: string, text: string, force: boolean): void {
  if (!force && existsSync(file))
    throw new ExplainedError(`${file} is there already: name another file, or replace it by --force`)
  replaceFile(file, text)
}

const standing = (entry: ConfigEntry, file: string, embed: boolean): Promise<ConfigEntry> =>
  selfContainedEntry(entry, localSource(file, dirname(resolve(file)), ''), embed)

/** The kubeconfigs that are there, to look at. Throws an ExplainedError if there is none, or if one cannot be read. */
function readConfigSet(files: readonly string[]): ConfigSet {
  const present = files.filter((file) => existsSync(file))
  const [first] = present
  if (first === undefined)
    throw new ExplainedError(
      `there is no kubeconfig at ${files.join(', ')}: t8s config import brings one, and KUBECONFIG names another`,
    )
  const documents = present.map((file) => {
    try {
      return { file, document: new ConfigDocument(readFileSync(file, 'utf8'), notAKubeconfig(file)) }
    } catch (error) {
      if (error instanceof ExplainedError) throw error
      throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
    }
  })
  return new ConfigSet(documents, first)
}
