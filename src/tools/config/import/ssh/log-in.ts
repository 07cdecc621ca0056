/** SSH authentication: only the given password, else the agent, then keys, then a password prompt. */
import { existsSync, readFileSync } from 'node:fs'
import type { AnyAuthMethod, AuthenticationType, AuthHandlerMiddleware, ParsedKey } from 'ssh2'
import ssh2 from 'ssh2'
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'
import { agentWithKey } from './agent-key.ts'
import type { Asker } from './asker.ts'
import type { SshSettings } from './settings/ssh-settings.ts'

export interface LogInOptions {
  readonly settings: SshSettings
  /** If set, the only method that is tried. */
  readonly password?: string
  /** True if the user chose keys, which must then exist. */
  readonly keysChosen: boolean
  /** Undefined without a terminal. */
  readonly asker: Asker | undefined
}

export interface LogIn {
  readonly handler: AuthHandlerMiddleware
  /** The error after all methods have failed. */
  failure(): ExplainedError
}

/** Prompts for a password or a passphrase. */
const maxPrompts = 3

/** `onError` is called if the user cancels a prompt, or a chosen key is unusable. */
export function logIn(options: LogInOptions, onError: (error: unknown) => void): LogIn {
  const tried: string[] = []
  let supported: readonly string[] = []
  const methods = authMethods(options, tried, () => supported, onError)
  return {
    handler(remaining: readonly AuthenticationType[] | null, _partial, next) {
      // The first response lists the methods that the server supports.
      if (remaining === null) {
        next({ type: 'none', username: options.settings.user } as AnyAuthMethod)
        return
      }
      supported = remaining
      void methods.next().then(({ value }) => tryOrStop(value), onError)
      function tryOrStop(method: AnyAuthMethod | undefined): void {
        // false ends the authentication, which the types of ssh2 lack.
        next(method ?? (false as unknown as AuthenticationType))
      }
    },
    failure() {
      const { user, alias } = options.settings
      const next =
        options.password === undefined
          ? 'use a key with -i, or a password with -p'
          : 'check the password, or omit it to use a key'
      const what = tried.length > 0 ? `tried ${[...new Set(tried)].join(', ')}` : 'there was nothing to try'
      return new ExplainedError(
        `${alias} rejects the login of ${user} (${what}; it supports ${supported.join(', ') || 'nothing'}): ${next}`,
      )
    },
  }
}

async function* authMethods(
  { settings, password, keysChosen, asker }: LogInOptions,
  tried: string[],
  supported: () => readonly string[],
  onError: (error: unknown) => void,
): AsyncGenerator<AnyAuthMethod, undefined> {
  const { user: username, agent, identitiesOnly, identityFiles, hostName } = settings
  if (password !== undefined) {
    tried.push('the password')
    if (supported().includes('password')) yield { type: 'password', username, password }
    if (supported().includes('keyboard-interactive')) yield interactive(username, async () => password, onError)
    return undefined
  }
  if (supported().includes('publickey')) {
    if (agent && !identitiesOnly) {
      tried.push('the agent')
      yield { type: 'agent', username, agent }
    }
    for (const file of identityFiles) {
      if (!existsSync(file)) {
        if (keysChosen) throw new ExplainedError(`the key ${file} does not exist: use another with -i`)
        continue
      }
      const signer = agent && identitiesOnly ? agentWithKey(agent, file) : undefined
      if (signer) yield { type: 'agent', username, agent: signer }
      const key = await loadKey(file, asker, keysChosen)
      tried.push(key ? file : `${file} (needs its passphrase)`)
      if (key) yield { type: 'publickey', username, key }
    }
  }
  if (!asker) return undefined
  const question = `Password of ${username}@${hostName}: `
  for (let attempt = 0; attempt < maxPrompts && supported().includes('password'); attempt++) {
    const answer = await asker.secret(question)
    tried.push('a password')
    yield { type: 'password', username, password: answer }
  }
  for (let attempt = 0; attempt < maxPrompts && supported().includes('keyboard-interactive'); attempt++) {
    tried.push('a password')
    yield interactive(username, (prompt) => asker.secret(`${username}@${hostName}: ${prompt}`), onError)
  }
  return undefined
}

/** Answers the server's prompts, for example of PAM. */
function interactive(
  username: string,
  answer: (prompt: string) => Promise<string>,
  onError: (error: unknown) => void,
): AnyAuthMethod {
  return {
    type: 'keyboard-interactive',
    username,
    prompt(_name, _instructions, _language, prompts, finish) {
      void (async () => {
        const answers: string[] = []
        for (const { prompt } of prompts) answers.push(await answer(prompt))
        finish(answers)
      })().catch(onError)
    },
  }
}

/**
 * Loads a key; resolves with undefined if it needs a passphrase and there is no terminal. Rejects with an
 * ExplainedError for an unusable chosen key.
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
          `the key ${file} has a passphrase, and there is no terminal to enter it: add the key to the agent with ` +
            'ssh-add',
        )
      return undefined
    }
    for (let attempt = 0; attempt < maxPrompts && key instanceof Error; attempt++) {
      const phrase = await asker.secret(`${attempt === 0 ? '' : 'Wrong passphrase. '}Passphrase of ${file}: `)
      key = parsed(content, phrase)
    }
    if (key instanceof Error) throw new ExplainedError(`the passphrase of ${file} was wrong: nothing was changed`)
  }
  if (!(key instanceof Error)) return key
  if (chosen) throw new ExplainedError(`${file} is not a usable private key (${key.message}): use another with -i`)
  return undefined
}

/** Parses the only key of a file. */
function parsed(content: Buffer, phrase?: string): ParsedKey | Error {
  const key = ssh2.utils.parseKey(content, phrase)
  const [first] = Array.isArray(key) ? key : [key]
  return first ?? new Error('it is empty')
}
