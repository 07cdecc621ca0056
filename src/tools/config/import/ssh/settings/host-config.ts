/** Looks up the options of a host in ~/.ssh/config and /etc/ssh/ssh_config (ssh_config(5)). */
import { globSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import SSHConfig from 'ssh-config'
import { ExplainedError, errorCode, reasonOf } from '../../../../../lib/explained-error.ts'
import type { SshHost } from './ssh-address.ts'

const maxIncludes = 16

/** The options that apply to the host in one file, by lower-case name. */
type Section = Readonly<Record<string, string | readonly string[]>>

/** The options of a host. Names are case-insensitive. */
export class HostConfig {
  /** Of the user's file, then of the system's. */
  readonly #sections: readonly Section[]

  /**
   * `configFile` replaces the two files; `folder` is ~/.ssh. Throws an ExplainedError for an unreadable or invalid
   * file.
   */
  constructor(host: SshHost, folder: string, configFile: string | undefined) {
    const files = configFile ? [configFile] : [join(folder, 'config'), '/etc/ssh/ssh_config']
    this.#sections = files.map((file) => sectionFor(host, file, folder, file === configFile))
  }

  /** All values of an option that accumulates, such as IdentityFile. */
  all(name: string): string[] {
    return this.#sections.flatMap((section) => texts(section[name.toLowerCase()]))
  }

  /** The value of an option; the first one wins. */
  one(name: string): string | undefined {
    return this.all(name)[0]
  }

  /** True if the value is `yes`. */
  isYes(name: string): boolean {
    return this.one(name)?.toLowerCase() === 'yes'
  }

  /** The words of an option, of the first file that has it. */
  words(name: string): string[] {
    const key = name.toLowerCase()
    const first = this.#sections.find((section) => texts(section[key]).length > 0)
    return texts(first?.[key])
      .flatMap((text) => text.split(/\s+/))
      .filter((text) => text !== 'none')
  }

  /** ProxyCommand or ProxyJump, whichever comes first. */
  proxy(): { readonly command?: string; readonly jump?: string } {
    const [first] = this.#sections.flatMap((section) =>
      Object.entries(section).filter(([name]) => name === 'proxycommand' || name === 'proxyjump'),
    )
    const text = first && texts(first[1]).join(' ')
    if (!text || text.toLowerCase() === 'none') return {}
    return first[0] === 'proxycommand' ? { command: text } : { jump: text }
  }
}

/** Returns the options of the host in a file; empty if an optional file does not exist. */
function sectionFor({ host, user }: SshHost, file: string, folder: string, required: boolean): Section {
  const text = textAt(file, required)
  if (text === undefined) return {}
  try {
    const config = SSHConfig.parse(withIncludes(text, file.startsWith('/etc/') ? '/etc/ssh' : folder, 0))
    return config.compute({ Host: host, ...(user && { User: user }) }, { ignoreCase: true, matchExec: false })
  } catch (error) {
    throw new ExplainedError(`cannot parse ${file}: ${reasonOf(error)}; fix it, or name another with -F`, {
      cause: error,
    })
  }
}

/** Replaces `Include` lines with the files. */
function withIncludes(text: string, folder: string, depth: number): string {
  return text.replace(/^[ \t]*include[ \t=]+(.+)$/gim, (_, patterns: string) => {
    if (depth >= maxIncludes) return ''
    const files = patterns
      .trim()
      .split(/\s+/)
      .flatMap((pattern) => {
        const plain = pattern.replaceAll('"', '').replace(/^~\//, `${join(folder, '..')}/`)
        return globSync(isAbsolute(plain) ? plain : join(folder, plain)).sort()
      })
    return files.map((file) => withIncludes(textAt(file, false) ?? '', folder, depth + 1)).join('\n')
  })
}

function textAt(file: string, required: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (!required && ['ENOENT', 'ENOTDIR', 'EACCES'].includes(errorCode(error) ?? '')) return undefined
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
  }
}

/** Converts a value of the ssh-config package: a text, several, or words with separators. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) =>
    typeof item === 'string'
      ? [item]
      : typeof item === 'object' && item !== null && 'val' in item
        ? [String(item.val)]
        : [],
  )
}
