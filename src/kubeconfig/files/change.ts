/** Changes kubeconfigs: locked, all of them or none, with what was before kept for `undo`. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { ConfigSet } from '../contexts/config-set.ts'
import { ConfigDocument, notAKubeconfig } from '../documents/config-document.ts'
import type { Locations } from './locations.ts'
import { type LockOptions, withLocks } from './lock.ts'
import { replaceFile } from './replace-file.ts'
import { fingerprint, lastChange, recordText, undoFileOf } from './undo-record.ts'

/** A file with the text that is there, and the one that is to be. */
interface Replacement {
  readonly file: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/**
 * Calls `change` with the kubeconfigs as they are while no other writer is at them, and writes what it changed. `what`
 * is told by `undo`. Rejects with an ExplainedError, with all files as they were.
 */
export function changeKubeconfigs<T>(
  { files, target }: Locations,
  what: string,
  change: (config: ConfigSet) => T,
  options?: LockOptions,
): Promise<T> {
  const concerned = files.filter((file) => file === target || existsSync(file))
  return withLocks(
    concerned,
    () => {
      const texts = new Map(concerned.map((file) => [file, textAt(file)]))
      const documents = concerned.map((file) => ({
        file,
        document: new ConfigDocument(texts.get(file) ?? '', notAKubeconfig(file)),
      }))
      const forms = new Map(documents.map(({ file, document }) => [file, document.toString()]))
      const config = new ConfigSet(documents, target, lastChange(concerned)?.change.previousContext)
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
        return after === forms.get(file) ? [] : [{ file, before: texts.get(file), after }]
      })
      replace(replacements, what, config.previousContext)
      return result
    },
    options,
  )
}

export interface UndoOptions extends LockOptions {
  /** Whether what others have changed since goes, too; false unless said. */
  readonly force?: boolean
}

export interface Undone {
  readonly what: string
  /** Whether an undo was undone. */
  readonly isRedo: boolean
  readonly files: readonly string[]
}

/**
 * Takes the last change back, which is a change, too. Resolves with what it was and where. Rejects with an
 * ExplainedError.
 */
export function undoLastChange({ files }: Locations, { force = false, ...options }: UndoOptions = {}): Promise<Undone> {
  const concerned = files.filter((file) => existsSync(file) || existsSync(undoFileOf(file)))
  return withLocks(
    concerned,
    () => {
      const last = lastChange(concerned)
      if (!last)
        throw new ExplainedError(`there is nothing to undo: t8s config has changed nothing in ${files.join(', ')}`)
      const replacements = [...last.records].map(([file, { before, left }]): Replacement => {
        const present = textAt(file)
        if (!force && fingerprint(present) !== left) {
          throw new ExplainedError(
            `${file} has been changed since (${JSON.stringify(last.change.what)} was the last change of t8s): ` +
              `undoing would lose that; say --force, or look at ${undoFileOf(file)}`,
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

/** The context that was current until now, if another is from now on. */
function currentContextOf(replacements: readonly Replacement[]): string | undefined {
  for (const { file, before, after } of replacements) {
    const [now, then] = [before, after].map(
      (text) => new ConfigDocument(text ?? '', notAKubeconfig(file)).currentContext,
    )
    if (now && now !== then) return now
  }
  return undefined
}

/** Writes records and files. If one cannot be written, those before it are put back. */
function replace(replacements: readonly Replacement[], what: string, previousContext: string | undefined): void {
  const change = { id: randomUUID(), what, at: Date.now(), previousContext }
  const done: Replacement[] = []
  try {
    for (const { file, before, after } of replacements) {
      const record = undoFileOf(file)
      const steps = [
        { file: record, before: textAt(record), after: recordText({ ...change, before, left: fingerprint(after) }) },
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

/** What a file says; undefined if there is none. */
function textAt(file: string): string | undefined {
  try {
    const present = statSync(file, { throwIfNoEntry: false })
    if (present && !present.isFile() && !present.isDirectory()) throw new Error('it is a device or a pipe')
    return present && readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}; nothing was changed`, { cause: error })
  }
}
