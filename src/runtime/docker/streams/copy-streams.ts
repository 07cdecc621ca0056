/** Copies between a client and a stream of the engine. */
import type { Duplex, Writable } from 'node:stream'
import { FrameSplitter } from '../../../lib/docker-engine/index.ts'
import type { RemoteCommand } from '../../../node/streaming/remote-command/remote-command.ts'

export type ClientStreams = Pick<RemoteCommand, 'stdin' | 'stdout' | 'stderr' | 'isTerminal'>

/** Passes the client's input on, and its end. */
export function copyInput({ stdin }: ClientStreams, connection: Duplex): void {
  if (!stdin) return
  connection.on('error', () => stdin.resume())
  connection.on('close', () => {
    stdin.unpipe(connection)
    stdin.resume()
  })
  stdin.pipe(connection)
}

const maxBeginningBytes = 4096

/**
 * Resolves with the beginning of the output when the engine has ended the stream. If the client leaves, the rest is
 * read and dropped.
 */
export async function copyOutput({ stdout, stderr, isTerminal }: ClientStreams, connection: Duplex): Promise<string> {
  const splitter = new FrameSplitter()
  let beginning = Buffer.alloc(0)
  for await (const chunk of connection as AsyncIterable<Buffer>) {
    const frames = isTerminal ? [{ stream: 'stdout' as const, data: chunk }] : splitter.add(chunk)
    for (const { stream, data } of frames) {
      if (beginning.length < maxBeginningBytes) beginning = Buffer.concat([beginning, data])
      await written(stream === 'stderr' ? stderr : stdout, data)
    }
  }
  return beginning.toString()
}

async function written(to: Writable | undefined, data: Buffer): Promise<void> {
  if (!to || to.destroyed || to.writableEnded || to.write(data)) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      to.off('drain', done)
      to.off('close', done)
      resolve()
    }
    to.on('drain', done)
    to.on('close', done)
  })
}
