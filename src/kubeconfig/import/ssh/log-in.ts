/**
 * The ways to log in, one after the other: a password that was given alone, else agent, keys, and a password that is
 * asked for.
 */
import { existsSync, readFileSync } from 'node:fs'
import type { AnyAuthMethod, AuthenticationType, AuthHandlerMiddleware, ParsedKey } from 'ssh2'
import ssh2 from 'ssh2'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { agentWithKey } from './agent-key.ts'
import type { Asker } from './asker.ts'
import type { SshSettings } from './ssh-settings.ts'

export interface LogInOptions {
  readonly settings: SshSettings
  /** The only way that is tried, if it is given. */
  readonly password?: string
  /** Keys of somebody's choosing have to be there. */
  readonly keysChosen: boolean
  /** Undefined where nobody is at a terminal. */
  readonly asker: Asker | undefined
}

export interface LogIn {
  readonly handler: AuthHandlerMiddleware
  /** Why all of it has failed. */
  failure(): ExplainedError
}

/** How often a password, or a pass phrase, is asked for. */
const tries = 3

/** `broken` is told when somebody breaks a question off, or a chosen key cannot be used. */
export function logIn(options: LogInOptions, broken: (error: unknown) => void): LogIn {
  const tried: string[] = []
  let taken: readonly string[] = []
  const ways = waysIn(options, tried, () => taken, broken)
  return {
    handler(left: readonly AuthenticationType[] | null, _partial, next) {
      // The first answer says which ways the server takes.
      if (left === null) {
        next({ type: 'none', username: options.settings.user } as AnyAuthMethod)
        return
      }
      taken = left
      void ways.next().then(({ value }) => giveUpOr(value), broken)
      function giveUpOr(way: AnyAuthMethod | undefined): void {
        // To give up is told by false, which the types do not know.
        next(way ?? (false as unknown as AuthenticationType))
      }
    },
    failure() {
      const { user, alias } = options.settings
      const next =
        options.password === undefined
          ? 'name a key by -i, or give a password by -p'
          : 'give the right password, or leave it out to use a key'
      const what = tried.length > 0 ? `tried ${[...new Set(tried)].join(', ')}` : 'there was nothing to try'
      return new ExplainedError(
        `${alias} does not let ${user} in (${what}; it takes ${taken.join(', ') || 'nothing'}): ${next}`,
      )
    },
  }
}

async function* waysIn(
  { settings, password, keysChosen, asker }: LogInOptions,
  tried: string[],
  taken: () => readonly string[],
  broken: (error: unknown) => void,
): AsyncGenerator<AnyAuthMethod, undefined> {
  const { user: username, agent, identitiesOnly, identityFiles, hostName } = settings
  if (password !== undefined) {
    tried.push('the password')
    if (taken().includes('password')) yield { type: 'password', username, password }
    if (taken().includes('keyboard-interactive')) yield interactive(username, async () => password, broken)
    return undefined
  }
  if (taken().includes('publickey')) {
    if (agent && !identitiesOnly) {
      tried.push('the agent')
      yield { type: 'agent', username, agent }
    }
    for (const file of identityFiles) {
      if (!existsSync(file)) {
        if (keysChosen) throw new ExplainedError(`there is no key ${file}: name another by -i`)
        continue
      }
      const signer = agent && identitiesOnly ? agentWithKey(agent, file) : undefined
      if (signer) yield { type: 'agent', username, agent: signer }
      const key = await loadKey(file, asker, keysChosen)
      tried.push(key ? file : `${file} (not without its pass phrase)`)
      if (key) yield { type: 'publickey', username, key }
    }
  }
  if (!asker) return undefined
  const question = `Password of ${username}@${hostName}: `
  for (let attempt = 0; attempt < tries && taken().includes('password'); attempt++) {
    const answer = await asker.secret(question)
    tried.push('a password')
    yield { type: 'password', username, password: answer }
  }
  for (let attempt = 0; attempt < tries && taken().includes('keyboard-interactive'); attempt++) {
    tried.push('a password')
    yield interactive(username, (prompt) => asker.secret(`${username}@${hostName}: ${prompt}`), broken)
  }
  return undefined
}

/** Answers what the server asks, such as PAM. */
function interactive(
  username: string,
  answer: (prompt: string) => Promise<string>,
  broken: (error: unknown) => void,
): AnyAuthMethod {
  return {
    type: 'keyboard-interactive',
    username,
    prompt(_name, _instructions, _language, prompts, finish) {
      void (async () => {
        const answers: string[] = []
        for (const { prompt } of prompts) answers.push(await answer(prompt))
        finish(answers)
      })().catch(broken)
    },
  }
}

/**
 * The key of a file; undefined if it has a pass phrase that nobody can be asked for. Rejects with an ExplainedError for
 * a chosen one that cannot be used.
 */
async function loadKey(file: string, asker: Asker | undefined, chosen: boolean): Promise<ParsedKey | undefined> {
  let content: Buffer
  try {
    content = readFileSync(file)
  } catch (error) {
    if (!chosen) return undefined
    throw new ExplainedError(`cannot read the key ${file}: ${reasonOf(error)}`, { cause: error })
  }
  let key = parsed(content)
  if (key instanceof Error && /passphrase|encrypted/i.test(key.message)) {
    if (!asker) {
      if (chosen)
        throw new ExplainedError(
          `the key ${file} has a pass phrase, and nobody is at a terminal to be asked for it: add it to the ` +
            'agent by ssh-add',
        )
      return undefined
    }
    for (let attempt = 0; attempt < tries && key instanceof Error; attempt++) {
      const phrase = await asker.secret(`${attempt === 0 ? '' : 'That was not it. '}Pass phrase of ${file}: `)
      key = parsed(content, phrase)
    }
    if (key instanceof Error) throw new ExplainedError(`the pass phrase of ${file} was wrong: nothing was changed`)
  }
  if (!(key instanceof Error)) return key
  if (chosen)
    throw new ExplainedError(`${file} is no private key that can be used (${key.message}): name another by -i`)
  return undefined
}

/** The first key of a file, which is the only one. */
function parsed(content: Buffer, phrase?: string): ParsedKey | Error {
  const key = ssh2.utils.parseKey(content, phrase)
  const [first] = Array.isArray(key) ? key : [key]
  return first ?? new Error('it is empty')
}
