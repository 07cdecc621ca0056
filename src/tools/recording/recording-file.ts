/**
 * The file of a recorded cluster: gzipped lines of JSON. The first line is the header, then one line an object, as the
 * API showed it; the last line counts them, so that a cut file is noticed.
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { parseJson, writeJson } from '../../lib/exact-json.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { KubeObject } from '../../machinery/object.ts'

/** The first line of the file. */
export interface RecordingHeader {
  readonly format: 'typernetes recording'
  readonly formatVersion: 1
  /** The version of the recorded server, such as `v1.36.2`. */
  readonly gitVersion: string
  /** As in RFC 3339. */
  readonly recordedAt: string
}

/** An object with the resource that it was listed as. */
export interface RecordedObject {
  readonly group: string
  readonly plural: string
  readonly object: KubeObject
}

const format = 'typernetes recording'
const formatVersion = 1

/** Makes the header of a recording that begins now. */
export const recordingHeader = (gitVersion: string, now: Date): RecordingHeader => ({
  format,
  formatVersion,
  gitVersion,
  recordedAt: now.toISOString(),
})

/**
 * Writes a new file, which only its owner can read, and resolves with the number of objects. Rejects with an
 * ExplainedError if it exists or cannot be written; errors of `objects` pass. Leaves no part of a file behind.
 */
export async function writeRecording(
  file: string,
  header: RecordingHeader,
  objects: AsyncIterable<RecordedObject>,
): Promise<number> {
  if (existsSync(file))
    throw new ExplainedError(`${file} exists already: it was left as it is; give another name or move it away`)
  let count = 0
  async function* lines(): AsyncGenerator<string> {
    yield `${JSON.stringify(header)}\n`
    for await (const recorded of objects) {
      count++
      yield `${writeJson(recorded)}\n`
    }
    yield `${JSON.stringify({ objects: count })}\n`
  }
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  let failure: unknown
  target.on('error', (error) => {
    failure = new ExplainedError(`cannot write ${file}: ${reasonOf(error)}`, { cause: error })
  })
  try {
    await pipeline(Readable.from(lines()), createGzip(), target)
  } catch (error) {
    if (failure === undefined) await rm(file, { force: true })
    throw failure ?? error
  }
  return count
}

/** A recording that was read. */
export interface Recording {
  readonly header: RecordingHeader
  readonly objects: readonly RecordedObject[]
}

/** Reads a file. Rejects with an ExplainedError if it is missing, no recording, of a newer format, or cut. */
export async function readRecording(file: string): Promise<Recording> {
  const lines = await readLines(file)
  const header = parseLine(lines[0]) as Partial<RecordingHeader> | undefined
  if (header?.format !== format) throw new ExplainedError(`${file} is not a recording: t8s record FILE makes one`)
  if (header.formatVersion !== formatVersion)
    throw new ExplainedError(
      `${file} has version ${header.formatVersion} of the format, and this t8s reads version ${formatVersion}: ` +
        'use a newer t8s',
    )
  const end = parseLine(lines.at(-1)) as { readonly objects?: number } | undefined
  const objects = lines.slice(1, -1).map((line) => parseLine(line) as RecordedObject | undefined)
  const read = objects.filter((object) => object !== undefined)
  if (end?.objects !== read.length || read.length !== objects.length)
    throw new ExplainedError(`${file} is cut or damaged: record it once more`)
  return { header: header as RecordingHeader, objects: read }
}

async function readLines(file: string): Promise<string[]> {
  const lines: string[] = []
  try {
    const source = createReadStream(file)
    const text = createGunzip()
    const read = pipeline(source, text)
    read.catch(() => undefined)
    for await (const line of createInterface({ input: text })) lines.push(line)
    await read
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    // A cut file ends within the compressed data; its lines are counted.
    if (code === 'Z_BUF_ERROR') return lines
    if (code.startsWith('Z_'))
      throw new ExplainedError(`${file} is not a recording: t8s record FILE makes one`, { cause: error })
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
  }
  return lines
}

function parseLine(line: string | undefined): unknown {
  try {
    return parseJson(line ?? '')
  } catch {
    return undefined
  }
}
