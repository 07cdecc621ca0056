/** The input of `t8s explain-panic`: a file, standard input, or the log of a pod. */
import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { PodLogOptions } from './pod-log.ts'

export interface Input {
  /** For messages: `app.log`, `the standard input`, `the log of pod web`. */
  readonly title: string
  readonly pieces: AsyncIterable<string>
}

const pieceBytes = 1024 * 1024

/** Opens the input. Rejects with an ExplainedError if there is none, or more than one. */
export async function inputOf(file: string | undefined, options: Partial<PodLogOptions>): Promise<Input> {
  const { pod, container, previous } = options
  if (pod !== undefined) {
    if (file !== undefined) throw new ExplainedError(`both the file ${file} and the pod ${pod} are given: omit one`)
    const { podLog } = await import('./pod-log.ts')
    return { title: `the log of pod ${pod}`, pieces: podLog({ ...options, pod }) }
  }
  if (container !== undefined || previous) throw new ExplainedError('-c and --previous need a pod: add --pod NAME')
  if (file === undefined || file === '-') {
    if (process.stdin.isTTY) {
      throw new ExplainedError(
        'there is no input: name a file (t8s explain-panic crash.log), pipe in a log (kubectl logs web | ' +
          't8s explain-panic), or name a pod with --pod',
      )
    }
    return { title: 'the standard input', pieces: textOf(process.stdin, 'the standard input') }
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new ExplainedError(`${file} is a folder: name a file with the output of the program`)
  return { title: file, pieces: textOf(createReadStream(file, { highWaterMark: pieceBytes }), file) }
}

async function* textOf(stream: Readable, title: string): AsyncGenerator<string> {
  stream.setEncoding('utf8')
  try {
    for await (const piece of stream) yield piece as string
  } catch (error) {
    throw new ExplainedError(`cannot read ${title}: ${reasonOf(error)}; name a file with the output of a Go program`, {
      cause: error,
    })
  }
}
