/** Files of the build context that `.dockerignore` leaves out. */
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { messageOf } from '../../../lib/message-of.ts'
import { ImageError } from '../../images/index.ts'
import { pathPattern } from './path-pattern.ts'

interface Rule {
  readonly pattern: RegExp
  /** True for rules that begin with `!`: their files are not left out. */
  readonly isException: boolean
}

export class IgnoreRules {
  readonly #rules: readonly Rule[]
  /** True if a file may be needed although its folder is left out. */
  readonly hasExceptions: boolean

  /** Throws an ImageError for a pattern that is not valid; `file` is the name in messages. */
  constructor(text: string, file: string) {
    this.#rules = text.split(/\r?\n/).flatMap((row, index) => {
      const line = index === 0 ? row.replace(/^\ufeff/, '') : row
      return line.startsWith('#') || line.trim() === '' ? [] : [ruleOf(line.trim(), `${file}:${index + 1}`)]
    })
    this.hasExceptions = this.#rules.some(({ isException }) => isException)
  }

  /** True if a path in the context is left out. The last rule that matches it, or a folder of it, decides. */
  ignores(path: string): boolean {
    const parts = path.split('/')
    const candidates = parts.map((_, count) => parts.slice(0, count + 1).join('/'))
    const last = this.#rules.findLast(({ pattern }) => candidates.some((one) => pattern.test(one)))
    return last !== undefined && !last.isException
  }
}

function ruleOf(line: string, place: string): Rule {
  const isException = line.startsWith('!')
  const path = posix.normalize(isException ? line.slice(1).trim() : line)
  try {
    return { pattern: pathPattern(path.replace(/^\/+/, '').replace(/\/+$/, '')), isException }
  } catch (error) {
    throw new ImageError('InvalidArgument', `${place}: ${messageOf(error)}`, { cause: error })
  }
}

/** The rules of a context: `DOCKERFILE.dockerignore` beside the Dockerfile comes before `.dockerignore`. */
export function readIgnoreRules(context: string, dockerfile: string): IgnoreRules {
  const candidates = [`${dockerfile}.dockerignore`, join(context, '.dockerignore')]
  const file = candidates.find((path) => existsSync(path))
  return new IgnoreRules(file ? readFileSync(file, 'utf8') : '', file ?? '')
}
