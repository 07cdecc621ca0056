/** Where a kubeconfig is imported from: its text, and the files that it names. */
import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, posix, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { SshOptions } from './ssh/connect.ts'

/** More than any kubeconfig has. */
const maxBytes = 10 * 1024 * 1024

export interface ConfigSource {
  /** For sentences: `/etc/kubernetes/admin.conf`, `root@host:/etc/…`. */
  readonly name: string
  readonly text: string
  /** The machine that it lies on, if that is another one. */
  readonly remoteHost: string | undefined
  /** An absolute path for one that starts from the folder of the kubeconfig. */
  absolute(path: string): string
  /** A file that it names. Rejects with an ExplainedError. */
  read(path: string): Promise<Buffer>
  close(): void
}

/** A file of this machine. Rejects with an ExplainedError if it cannot be read. */
export async function fileSource(file: string): Promise<ConfigSource> {
  return localSource(file, dirname(resolve(file)), (await readLocal(file, 'name another by -l')).toString())
}

/** What comes in by standard input; paths in it start from here. Rejects with an ExplainedError if nothing comes. */
export async function inputSource(input: NodeJS.ReadStream): Promise<ConfigSource> {
  if (input.isTTY)
    throw new ExplainedError(
      'standard input is the terminal: pass a kubeconfig in, as in: t8s config import NAME - < FILE',
    )
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    if ((bytes += chunk.length) > maxBytes)
      throw new ExplainedError(
        'more than 10 MB came in by standard input, which no kubeconfig has: nothing was changed',
      )
  }
  const text = Buffer.concat(chunks).toString()
  if (text.trim() === '')
    throw new ExplainedError(
      'nothing came in by standard input: pass a kubeconfig in, as in: t8s config import NAME - < FILE',
    )
  return localSource('standard input', process.cwd(), text)
}

/** A file of another machine. Rejects with an ExplainedError that says what to do. */
export async function sshSource(address: string, options: SshOptions): Promise<ConfigSource> {
  const [{ parseSshAddress }, { remoteFiles }] = await Promise.all([
    import('./ssh/ssh-address.ts'),
    import('./ssh/remote-file.ts'),
  ])
  const where = parseSshAddress(address)
  const files = await remoteFiles(where, options)
  try {
    return {
      name: `${where.host}:${where.path}`,
      text: (await files.read(where.path)).toString(),
      remoteHost: files.hostName,
      absolute: (path) => (posix.isAbsolute(path) ? path : posix.join(posix.dirname(where.path), path)),
      read: (path) => files.read(path),
      close: files.close,
    }
  } catch (error) {
    files.close()
    throw error
  }
}

/** A text of this machine; paths in it start from `folder`. */
export function localSource(name: string, folder: string, text: string): ConfigSource {
  return {
    name,
    text,
    remoteHost: undefined,
    absolute: (path) => (isAbsolute(path) ? path : join(folder, path)),
    read: (path) => readLocal(path, `${name} names it: mend that, or import without --embed`),
    close() {},
  }
}

function readLocal(file: string, next: string): Promise<Buffer> {
  return readFile(file).catch((error) => {
    throw new ExplainedError(`cannot read ${file} (${reasonOf(error)}): ${next}`, { cause: error })
  })
}
