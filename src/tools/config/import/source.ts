/** The source of an import: a kubeconfig's text, and the files that it names. */
import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, posix, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import type { SshOptions } from './ssh/connect.ts'

/** Limit for a kubeconfig. */
const maxBytes = 10 * 1024 * 1024

export interface ConfigSource {
  /** For messages: `/etc/kubernetes/admin.conf`, `root@host:/etc/…`. */
  readonly name: string
  readonly text: string
  /** The host name, if the source is on another machine. */
  readonly remoteHost: string | undefined
  /** Resolves a path relative to the folder of the kubeconfig. */
  absolute(path: string): string
  /** Reads a file that the kubeconfig names. Rejects with an ExplainedError. */
  read(path: string): Promise<Buffer>
  close(): void
}

/** A file on this machine. Rejects with an ExplainedError if it cannot be read. */
export async function fileSource(file: string): Promise<ConfigSource> {
  return localSource(file, dirname(resolve(file)), (await readLocal(file, 'name another with -l')).toString())
}

/** Standard input; its paths are relative to the working directory. Rejects with an ExplainedError if it is empty. */
export async function inputSource(input: NodeJS.ReadStream): Promise<ConfigSource> {
  if (input.isTTY)
    throw new ExplainedError(
      'standard input is a terminal: redirect a kubeconfig, as in: t8s config import NAME - < FILE',
    )
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    if ((bytes += chunk.length) > maxBytes)
      throw new ExplainedError('standard input has more than 10 MB, too much for a kubeconfig: nothing was changed')
  }
  const text = Buffer.concat(chunks).toString()
  if (text.trim() === '')
    throw new ExplainedError('standard input is empty: redirect a kubeconfig, as in: t8s config import NAME - < FILE')
  return localSource('standard input', process.cwd(), text)
}

/** A file on another machine. Rejects with an ExplainedError. */
export async function sshSource(address: string, options: SshOptions): Promise<ConfigSource> {
  const [{ parseSshAddress }, { remoteFiles }] = await Promise.all([
    import('./ssh/settings/ssh-address.ts'),
    import('./ssh/remote-file.ts'),
  ])
  const remote = parseSshAddress(address)
  const files = await remoteFiles(remote, options)
  try {
    return {
      name: `${remote.host}:${remote.path}`,
      text: (await files.read(remote.path)).toString(),
      remoteHost: files.hostName,
      absolute: (path) => (posix.isAbsolute(path) ? path : posix.join(posix.dirname(remote.path), path)),
      read: (path) => files.read(path),
      close: files.close,
    }
  } catch (error) {
    files.close()
    throw error
  }
}

/** A text on this machine; its paths are relative to `folder`. */
export function localSource(name: string, folder: string, text: string): ConfigSource {
  return {
    name,
    text,
    remoteHost: undefined,
    absolute: (path) => (isAbsolute(path) ? path : join(folder, path)),
    read: (path) => readLocal(path, `${name} names it: fix that, or import without --embed`),
    close() {},
  }
}

function readLocal(file: string, next: string): Promise<Buffer> {
  return readFile(file).catch((error) => {
    throw new ExplainedError(`cannot read ${file} (${reasonOf(error)}): ${next}`, { cause: error })
  })
}
