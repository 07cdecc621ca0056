/** Reads files of another machine: by SFTP, or by `cat` where a server has no SFTP. */
import type { Client, SFTPWrapper } from 'ssh2'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { connect, type SshOptions } from './connect.ts'
import type { SshAddress } from './ssh-address.ts'

export interface RemoteFiles {
  /** The name of the machine as others reach it. */
  readonly hostName: string
  /**
   * Rejects with an ExplainedError for what cannot be read. Paths that are not absolute start from the home directory.
   */
  read(path: string): Promise<Buffer>
  close(): void
}

/** More than any kubeconfig has. */
const maxBytes = 10 * 1024 * 1024
/** How long one file may take, in ms. */
const readTimeoutMs = 30_000

/** Connects; the files are read when they are asked for. Rejects with an ExplainedError. */
export async function remoteFiles(address: SshAddress, options: SshOptions): Promise<RemoteFiles> {
  const { client, settings, close } = await connect(address, options)
  const sftp = await sftpOf(client)
  const at = `${settings.user}@${settings.alias}`
  return {
    hostName: settings.hostName,
    read: (path) =>
      inTime(
        sftp ? bySftp(sftp, path, at) : byCat(client, path, at),
        `${at} did not send ${path} within ${readTimeoutMs / 1000} s: try again`,
      ),
    close,
  }
}

/** Undefined where the server has none. */
const sftpOf = (client: Client): Promise<SFTPWrapper | undefined> =>
  inTime(
    new Promise((resolve) => client.sftp((error, sftp) => resolve(error ? undefined : sftp))),
    'the machine did not begin SFTP: try again',
  )

function bySftp(sftp: SFTPWrapper, path: string, at: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(unreadable(path, at, words(error), error))
    sftp.stat(path, (error, stats) => {
      if (error) fail(error)
      else if (!stats.isFile()) reject(unreadable(path, at, 'it is no file'))
      else if (stats.size > maxBytes)
        reject(unreadable(path, at, `it has ${stats.size} bytes, which no kubeconfig has`))
      else sftp.readFile(path, (error, content) => (error ? fail(error) : resolve(content)))
    })
  })
}

function byCat(client: Client, path: string, at: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: Error): void => reject(unreadable(path, at, why, cause))
    client.exec(`cat -- '${path.replaceAll("'", "'\\''")}'`, (error, channel) => {
      if (error) {
        fail(reasonOf(error), error)
        return
      }
      const chunks: Buffer[] = []
      let bytes = 0
      let complaint = ''
      channel.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= maxBytes) chunks.push(chunk)
        else channel.close()
      })
      channel.stderr.setEncoding('utf8').on('data', (text: string) => {
        complaint = (complaint + text).slice(0, 1000)
      })
      channel.on('close', (code: number | null) => {
        if (bytes > maxBytes) fail('it has more bytes than any kubeconfig')
        else if (code === 0) resolve(Buffer.concat(chunks))
        else fail(complaint.trim() || `cat ended with ${code}`)
      })
    })
  })
}

/** Status codes of SFTP (draft-ietf-secsh-filexfer-02, section 7). */
function words(error: Error): string {
  switch ((error as Error & { readonly code?: unknown }).code) {
    case 2:
      return 'there is no such file'
    case 3:
      return 'permission denied'
    default:
      return reasonOf(error)
  }
}

function unreadable(path: string, at: string, why: string, cause?: Error): ExplainedError {
  const next = /permission denied/i.test(why)
    ? ': log in as who may read it, such as root'
    : ': see which file it is there'
  return new ExplainedError(`cannot read ${path} as ${at} (${why})${next}`, { cause })
}

async function inTime<T>(work: Promise<T>, message: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new ExplainedError(message)), readTimeoutMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
