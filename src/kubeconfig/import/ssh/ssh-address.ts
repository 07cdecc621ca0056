/** Addresses such as `ssh://user@host:port/path`: where a file lies on another machine. */
import { ExplainedError } from '../../../lib/explained-error.ts'

/** A machine, as a URL or ProxyJump names it. What is not said is for ~/.ssh/config to say. */
export interface SshHost {
  readonly host: string
  readonly user?: string
  readonly port?: number
}

export interface SshAddress extends SshHost {
  /** Absolute, or from the home directory there. */
  readonly path: string
}

/** Throws an ExplainedError for what is no such address. `ssh://HOST:/path` and `ssh://HOST/~/path` are some, too. */
export function parseSshAddress(text: string): SshAddress {
  const [, authority, path] = /^ssh:\/\/([^/]*)(\/.*)?$/i.exec(text) ?? []
  if (!authority) throw noAddress(text)
  if (!path || path.endsWith('/'))
    throw new ExplainedError(`${text} names no file: say which, such as ssh://${authority}/etc/kubernetes/admin.conf`)
  const decoded = decode(path, text)
  return { ...parseSshHost(authority, text), path: decoded.startsWith('/~/') ? decoded.slice(3) : decoded }
}

/** `user@host:port` of an address, or of a hop in ProxyJump; `whole` is named in errors. */
export function parseSshHost(text: string, whole = text): SshHost {
  const at = text.lastIndexOf('@')
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d*))?$/.exec(text.slice(at + 1)) ?? []
  const host = bracketed ?? plain
  const user = at >= 0 ? decode(text.slice(0, at), whole) : undefined
  if (!host || user === '' || host.startsWith('-')) throw noAddress(whole)
  if (user?.includes(':'))
    throw new ExplainedError(
      `${whole.replace(/:[^/@]*@/, ':…@')} has a password in it, which lists of processes would show: ask for it ` +
        'with --password-fd, or leave it out to be asked',
    )
  if (port && (Number(port) < 1 || Number(port) > 65_535))
    throw new ExplainedError(`${whole} has the port ${port}: ports go from 1 to 65535`)
  return { host, ...(user && { user }), ...(port && { port: Number(port) }) }
}

function decode(text: string, whole: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw noAddress(whole)
  }
}

const noAddress = (text: string): ExplainedError =>
  new ExplainedError(
    `${text} is no address of a file: it should look like ssh://USER@HOST:PORT/etc/kubernetes/admin.conf`,
  )
