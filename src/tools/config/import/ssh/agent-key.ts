/** Restricts an SSH agent to one key: with explicit keys, the host must not see the agent's others. */
import { readFileSync } from 'node:fs'
import ssh2, {
  type BaseAgent,
  type IdentityCallback,
  type ParsedKey,
  type PublicKeyEntry,
  type SignCallback,
  type SigningRequestOptions,
} from 'ssh2'

type AgentIdentity =
  | Buffer
  | ParsedKey
  | string
  | { readonly pubKey: ParsedKey | Buffer | string | PublicKeyEntry['pubKey'] }

/** The agent at `socket`, restricted to the public key in `file`.pub; undefined if that does not exist. */
export function agentWithKey(socket: string, file: string): BaseAgent | undefined {
  const chosen = publicKeyAt(`${file}.pub`)
  return chosen && new OneKeyAgent(ssh2.createAgent(socket), chosen)
}

class OneKeyAgent extends ssh2.BaseAgent {
  readonly #agent: BaseAgent
  readonly #chosen: Buffer

  constructor(agent: BaseAgent, chosen: Buffer) {
    super()
    this.#agent = agent
    this.#chosen = chosen
  }

  override getIdentities(callback: IdentityCallback): void {
    this.#agent.getIdentities((error, keys) =>
      callback(
        error,
        keys?.filter((key) => blobOf(key)?.equals(this.#chosen)),
      ),
    )
  }

  override sign(
    key: string | Buffer | ParsedKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    callback?: SignCallback,
  ): void {
    if (typeof options === 'function') this.#agent.sign(key, data, options)
    else this.#agent.sign(key, data, options, callback)
  }
}

function publicKeyAt(file: string): Buffer | undefined {
  try {
    return blobOf(readFileSync(file))
  } catch {
    return undefined
  }
}

/** The wire format of a key. */
function blobOf(key: AgentIdentity): Buffer | undefined {
  if (typeof key === 'object' && 'pubKey' in key) return blobOf(key.pubKey)
  const parsed = typeof key === 'string' || Buffer.isBuffer(key) ? ssh2.utils.parseKey(key) : key
  const [first] = Array.isArray(parsed) ? parsed : [parsed]
  return first && !(first instanceof Error) ? first.getPublicSSH() : undefined
}
