/** Reads files on another machine: with SFTP, or with `cat` if the server has no SFTP. */
import type { Client, SFTPWrapper } from 'ssh2'
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'
import { connect, type SshOptions } from './connect.ts'
import type { SshAddress } from './settings/ssh-address.ts'

export interface RemoteFiles {
  /** The host name of the machine. */
  readonly hostName: string
  /** Rejects with an ExplainedError for an unreadable file. Relative paths start in the home directory. */
  read(path: string): Promise<Buffer>
  close(): void
}

/** Limit for a kubeconfig. */
const maxBytes = 10 * 1024 * 1024
/** Timeout for a file, in ms. */
const readTimeoutMs = 30_000

/** Connects. Rejects with an ExplainedError. */
export async function remoteFiles(address: SshAddress, options: SshOptions): Promise<RemoteFiles> {
  const { client, settings, close } = await connect(address, options)
  const sftp = await sftpOf(client)
  const at = `${settings.user}@${settings.alias}`
  return {
    hostName: settings.hostName,
    read: (path) =>
      withTimeout(
        sftp ? readWithSftp(sftp, path, at) : readWithCat(client, path, at),
        `${at} did not send ${path} within ${readTimeoutMs / 1000} s: try again`,
      ),
    close,
  }
}

/** Resolves with undefined if the server has no SFTP. */
const sftpOf = (client: Client): Promise<SFTPWrapper | undefined> =>
  withTimeout(
    new Promise((resolve) => client.sftp((error, sftp) => resolve(error ? undefined : sftp))),
    'the machine did not start SFTP: try again',
  )

function readWithSftp(sftp: SFTPWrapper, path: string, at: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(unreadable(path, at, sftpReason(error), error))
    sftp.stat(path, (error, stats) => {
      if (error) fail(error)
      else if (!stats.isFile()) reject(unreadable(path, at, 'it is not a file'))
      else if (stats.size > maxBytes)
        reject(unreadable(path, at, `it has ${stats.size} bytes, too many for a kubeconfig`))
      else sftp.readFile(path, (error, content) => (error ? fail(error) : resolve(content)))
    })
  })
}

function readWithCat(client: Client, path: string, at: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: Error): void => reject(unreadable(path, at, why, cause))
    client.exec(`cat -- '${path.replaceAll("'", "'\\''")}'`, (error, channel) => {
      if (error) {
        fail(reasonOf(error), error)
        return
      }
      const chunks: Buffer[] = []
      let bytes = 0
      let stderr = ''
      channel.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= maxBytes) chunks.push(chunk)
        else channel.close()
      })
      channel.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(0, 1000)
      })
      channel.on('close', (code: number | null) => {
        if (bytes > maxBytes) fail('it has too many bytes for a kubeconfig')
        else if (code === 0) resolve(Buffer.concat(chunks))
        else fail(stderr.trim() || `cat ended with ${code}`)
      })
    })
  })
}

/** Status codes of SFTP (draft-ietf-secsh-filexfer-02, section 7). */
function sftpReason(error: Error): string {
  switch ((error as Error & { readonly code?: unknown }).code) {
    case 2:
      return 'no such file'
    case 3:
      return 'permission denied'
    default:
      return reasonOf(error)
  }
}

function unreadable(path: string, at: string, why: string, cause?: Error): ExplainedError {
  const next = /permission denied/i.test(why)
    ? ': log in as a user who can read it, such as root'
    : ': check the path on that machine'
  return new ExplainedError(`cannot read ${path} as ${at} (${why})${next}`, { cause })
}

async function withTimeout<T>(work: Promise<T>, message: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new ExplainedError(message)), readTimeoutMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
