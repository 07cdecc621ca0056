/** Bootstrap tokens as texts: `abcdef.0123456789abcdef`, the id of a Secret and its key. Messages are kubeadm's. */
import { ExplainedError } from '../../../lib/explained-error.ts'

export interface BootstrapToken {
  readonly id: string
  readonly secret: string
}

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const idForm = /^[a-z0-9]{6}$/
const [tokenPattern, idPattern] = ['\\A([a-z0-9]{6})\\.([a-z0-9]{16})\\z', '\\A([a-z0-9]{6})\\z']

const characters = '0123456789abcdefghijklmnopqrstuvwxyz'
const [idLength, secretLength] = [6, 16]

/** Throws an ExplainedError for a text of another form. It does not have the text: that may be a real secret. */
export function parseToken(text: string): BootstrapToken {
  const [, id, secret] = tokenForm.exec(text) ?? []
  if (id === undefined || secret === undefined)
    throw new ExplainedError(
      `the bootstrap token was not of the form "${tokenPattern}": it looks like abcdef.0123456789abcdef, and t8s ` +
        'token create prints one',
    )
  return { id, secret }
}

export const tokenText = ({ id, secret }: BootstrapToken): string => `${id}.${secret}`

/** The id of a token, or of a text that is only the id. Throws an ExplainedError for other texts. */
export function tokenIdOf(text: string): string {
  const [, id] = tokenForm.exec(text) ?? []
  if (id !== undefined) return id
  if (idForm.test(text)) return text
  throw new ExplainedError(
    `given token didn't match pattern "${idPattern}" or "${tokenPattern}": t8s token list shows the tokens`,
  )
}

/** A new token. `randomBytes` returns that many random bytes. */
export function newToken(randomBytes: (count: number) => Uint8Array): BootstrapToken {
  const text = (length: number): string => {
    let result = ''
    while (result.length < length)
      // Bytes above the last multiple would make some characters more probable.
      for (const byte of randomBytes(length))
        if (byte < 252 && result.length < length) result += characters[byte % characters.length]
    return result
  }
  return { id: text(idLength), secret: text(secretLength) }
}
