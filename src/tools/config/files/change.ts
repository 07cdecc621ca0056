/** Changes kubeconfigs atomically under locks, and saves the old texts for `undo`. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { ConfigSet } from '../contexts/config-set.ts'
import { ConfigDocument, notAKubeconfig } from '../documents/config-document.ts'
import type { Locations } from './locations.ts'
import { type LockOptions, withLocks } from './lock.ts'
import { replaceFile } from './replace-file.ts'
import { fingerprint, lastChange, recordText, undoFileOf } from './undo-record.ts'

/** A file with its old and its new text. */
interface Replacement {
  readonly file: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/**
 * Calls `change` with the current kubeconfigs while they are locked, and writes the changes. `what` describes the
 * change for `undo`. If it rejects with an ExplainedError, no file was changed.
 */
export function changeKubeconfigs<T>(
  { files, target }: Locations,
  what: string,
  change: (config: ConfigSet) => T,
  options?: LockOptions,
): Promise<T> {
  const paths = files.filter((file) => file === target || existsSync(file))
  return withLocks(
    paths,
    () => {
      const texts = new Map(paths.map((file) => [file, textAt(file)]))
      const documents = paths.map((file) => ({
        file,
        document: new ConfigDocument(texts.get(file) ?? '', notAKubeconfig(file)),
      }))
      const originals = new Map(documents.map(({ file, document }) => [file, document.toString()]))
      const config = new ConfigSet(documents, target, lastChange(paths)?.change.previousContext)
      const { currentContext } = config
      const result = change(config)
      if (
        currentContext &&
        config.currentContext !== currentContext &&
        config.names('context').includes(currentContext)
      )
        config.previousContext = currentContext
      const replacements = documents.flatMap(({ file, document }): Replacement[] => {
        const after = document.toString()
        return after === originals.get(file) ? [] : [{ file, before: texts.get(file), after }]
      })
      replace(replacements, what, config.previousContext)
      return result
    },
    options,
  )
}

export interface UndoOptions extends LockOptions {
  /** True to overwrite later changes of other programs. Default: false. */
  readonly force?: boolean
}

export interface Undone {
  readonly what: string
  /** True if an undo was undone. */
  readonly isRedo: boolean
  readonly files: readonly string[]
}

/** Undoes the last change; the undo is a change that can be undone. Rejects with an ExplainedError. */
export function undoLastChange({ files }: Locations, { force = false, ...options }: UndoOptions = {}): Promise<Undone> {
  const paths = files.filter((file) => existsSync(file) || existsSync(undoFileOf(file)))
  return withLocks(
    paths,
    () => {
      const last = lastChange(paths)
      if (!last) throw new ExplainedError(`there is nothing to undo: t8s config has not changed ${files.join(', ')}`)
      const replacements = [...last.records].map(([file, { before, resultFingerprint }]): Replacement => {
        const present = textAt(file)
        if (!force && fingerprint(present) !== resultFingerprint) {
          throw new ExplainedError(
            `${file} has been changed since (${JSON.stringify(last.change.what)} was the last change of t8s): ` +
              `undo would overwrite that; use --force, or compare with ${undoFileOf(file)}`,
          )
        }
        return { file, before: present, after: before }
      })
      const isRedo = undone.test(last.change.what)
      const what = last.change.what.replace(undone, '')
      replace(
        replacements,
        isRedo ? what : `undo of ${what}`,
        currentContextOf(replacements) ?? last.change.previousContext,
      )
      return { what, isRedo, files: [...last.records.keys()] }
    },
    options,
  )
}

const undone = /^undo of /

/** The current context before the replacements, if they change it. */
function currentContextOf(replacements: readonly Replacement[]): string | undefined {
  for (const { file, before, after } of replacements) {
    const [oldName, newName] = [before, after].map(
      (text) => new ConfigDocument(text ?? '', notAKubeconfig(file)).currentContext,
    )
    if (oldName && oldName !== newName) return oldName
  }
  return undefined
}

/** Writes undo records and files. If a write fails, restores the files that were written. */
function replace(replacements: readonly Replacement[], what: string, previousContext: string | undefined): void {
  const change = { id: randomUUID(), what, at: Date.now(), previousContext }
  const done: Replacement[] = []
  try {
    for (const { file, before, after } of replacements) {
      const record = undoFileOf(file)
      const steps = [
        {
          file: record,
          before: textAt(record),
          after: recordText({ ...change, before, resultFingerprint: fingerprint(after) }),
        },
        { file, before, after },
      ]
      for (const step of steps) {
        replaceFile(step.file, step.after)
        done.unshift(step)
      }
    }
  } catch (error) {
    for (const { file, before } of done) replaceFile(file, before)
    throw error
  }
}

/** The text of a file; undefined if it does not exist. */
function textAt(file: string): string | undefined {
  try {
    const present = statSync(file, { throwIfNoEntry: false })
    if (present && !present.isFile() && !present.isDirectory()) throw new Error('it is a device or a pipe')
    return present && readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}; nothing was changed`, { cause: error })
  }
}
