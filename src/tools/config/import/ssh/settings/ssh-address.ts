/** Addresses of files on other machines, such as `ssh://user@host:port/path`. */
import { ExplainedError } from '../../../../../lib/explained-error.ts'

/** A machine in a URL or ProxyJump. Missing fields come from ~/.ssh/config. */
export interface SshHost {
  readonly host: string
  readonly user?: string
  readonly port?: number
}

export interface SshAddress extends SshHost {
  /** Absolute, or relative to the home directory there. */
  readonly path: string
}

/** Throws an ExplainedError for an invalid address. `ssh://HOST:/path` and `ssh://HOST/~/path` are valid, too. */
export function parseSshAddress(text: string): SshAddress {
  const [, authority, path] = /^ssh:\/\/([^/]*)(\/.*)?$/i.exec(text) ?? []
  if (!authority) throw invalidAddress(text)
  if (!path || path.endsWith('/'))
    throw new ExplainedError(`${text} has no file: use for example ssh://${authority}/etc/kubernetes/admin.conf`)
  const decoded = decode(path, text)
  return { ...parseSshHost(authority, text), path: decoded.startsWith('/~/') ? decoded.slice(3) : decoded }
}

/** `user@host:port` of an address, or of a hop in ProxyJump; `whole` is named in errors. */
export function parseSshHost(text: string, whole = text): SshHost {
  const at = text.lastIndexOf('@')
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d*))?$/.exec(text.slice(at + 1)) ?? []
  const host = bracketed ?? plain
  const user = at >= 0 ? decode(text.slice(0, at), whole) : undefined
  if (!host || user === '' || host.startsWith('-')) throw invalidAddress(whole)
  if (user?.includes(':'))
    throw new ExplainedError(
      `${whole.replace(/:[^/@]*@/, ':…@')} contains a password, which process lists would show: use ` +
        '--password-fd, or omit it for a prompt',
    )
  if (port && (Number(port) < 1 || Number(port) > 65_535))
    throw new ExplainedError(`${whole} has the port ${port}: ports must be from 1 to 65535`)
  return { host, ...(user && { user }), ...(port && { port: Number(port) }) }
}

function decode(text: string, whole: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidAddress(whole)
  }
}

const invalidAddress = (text: string): ExplainedError =>
  new ExplainedError(`${text} is not the address of a file: use ssh://USER@HOST:PORT/etc/kubernetes/admin.conf`)
