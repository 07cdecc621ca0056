/** A KMS v2 plugin on a unix socket, with keys in memory that can be rotated and refused. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js'
import { field } from '../../src/machinery/protobuf/encode.fixture.ts'
import { WireReader, wireTypes } from '../../src/machinery/protobuf/wire.ts'
import type { Lifetime } from '../support/reachable-cluster.ts'

type Fields = Readonly<Record<number, Buffer>>

function read(message: Buffer): Fields {
  const reader = new WireReader(message)
  const fields: Record<number, Buffer> = {}
  while (!reader.done) {
    const { number, wireType } = reader.tag('message')
    if (wireType === wireTypes.bytes) fields[number] = reader.slice()
    else reader.skip(wireType)
  }
  return fields
}

const bytes = (value: Buffer): Buffer => value
const unary = (method: string) => ({
  path: `/v2.KeyManagementService/${method}`,
  requestStream: false,
  responseStream: false,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
})

export class KmsPlugin {
  readonly endpoint: string
  readonly calls = { status: 0, encrypt: 0, decrypt: 0 }
  /** The health that `Status` returns. */
  healthz = 'ok'
  /** Error message for `Encrypt` and `Decrypt`; undefined to answer them. */
  refusal: string | undefined
  readonly #keys = new Map<string, Buffer>()
  readonly #server = new Server()
  #keyId = ''

  private constructor(endpoint: string) {
    this.endpoint = endpoint
    this.rotate()
  }

  static async start(t: Lifetime, socket: string): Promise<KmsPlugin> {
    const plugin = new KmsPlugin(`unix://${socket}`)
    await plugin.#listen()
    t.after(() => plugin.stop())
    return plugin
  }

  stop(): void {
    this.#server.forceShutdown()
  }

  /** Encrypts with a new key from now on; the old ones still decrypt. */
  rotate(): string {
    this.#keyId = `key-${this.#keys.size + 1}`
    this.#keys.set(this.#keyId, randomBytes(32))
    return this.#keyId
  }

  async #listen(): Promise<void> {
    const answered =
      (kind: keyof KmsPlugin['calls'], answer: (request: Fields) => Buffer) =>
      (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        this.calls[kind]++
        if (this.refusal && kind !== 'status') return done({ code: status.INTERNAL, details: this.refusal })
        return done(null, answer(read(call.request)))
      }
    this.#server.addService(
      { Status: unary('Status'), Encrypt: unary('Encrypt'), Decrypt: unary('Decrypt') },
      {
        Status: answered('status', () =>
          Buffer.concat([field(1, 'v2'), field(2, this.healthz), field(3, this.#keyId)]),
        ),
        Encrypt: answered('encrypt', ({ 1: plaintext }) => this.#encrypt(plaintext!)),
        Decrypt: answered('decrypt', ({ 1: ciphertext, 3: keyId }) => this.#decrypt(ciphertext!, keyId!.toString())),
      },
    )
    await new Promise<void>((resolve, reject) =>
      this.#server.bindAsync(this.endpoint, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    )
  }

  #encrypt(plaintext: Buffer): Buffer {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#keys.get(this.#keyId)!, nonce)
    const sealed = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
    return Buffer.concat([
      field(1, sealed),
      field(2, this.#keyId),
      field(3, [field(1, 'rounds.kms.example.com'), field(2, '1')]),
    ])
  }

  #decrypt(sealed: Buffer, keyId: string): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.#keys.get(keyId)!, sealed.subarray(0, 12))
    decipher.setAuthTag(sealed.subarray(-16))
    return field(1, Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]))
  }
}
