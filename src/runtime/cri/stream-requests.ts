/** Requests for commands and streams, for every runtime. */
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { RequestedStreams } from '../../node/streaming/remote-command/remote-command.ts'

/** As containerd: the rest of a longer output is dropped. In bytes. */
const maxOutputBytes = 16 * 1024 * 1024

interface StreamFlags {
  readonly tty: boolean
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
}

/** Throws an RpcError for streams that cannot be combined. */
export function requestedStreams({ tty, stdin, stdout, stderr }: StreamFlags): RequestedStreams {
  if (tty && stderr) throw new RpcError('InvalidArgument', 'tty and stderr cannot both be true')
  if (!stdin && !stdout && !stderr) throw new RpcError('InvalidArgument', 'one of stdin, stdout, or stderr must be set')
  return { isTerminal: tty, stdin, stdout, stderr }
}

/** Runs a command and resolves with its exit code and output. */
export async function collectOutput(
  run: (stdout: Writable, stderr: Writable) => Promise<number>,
): Promise<{ readonly stdout: Buffer; readonly stderr: Buffer; readonly exitCode: number }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const texts = Promise.all([collect(stdout), collect(stderr)])
  const exitCode = await run(stdout, stderr)
  stdout.end()
  stderr.end()
  const [out, err] = await texts
  return { stdout: out, stderr: err, exitCode }
}

async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (size < maxOutputBytes) chunks.push(chunk.subarray(0, maxOutputBytes - size))
    size += chunk.length
  }
  return Buffer.concat(chunks)
}
