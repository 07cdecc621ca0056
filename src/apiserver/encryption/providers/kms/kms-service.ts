/** A KMS plug-in, asked over gRPC on its unix socket. */
import { randomUUID } from 'node:crypto'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { decryptRequest, encryptRequest, type KmsStatus, readPlaintext, readSealed, readStatus, type Sealed, statusRequest } from './messages.ts'

export class KmsService {
  readonly #client: Client
  readonly #timeoutMs: number

  /** `endpoint` is `unix:///run/kms.sock`; a call may take `timeoutMs`. */
  constructor(endpoint: string, timeoutMs: number) {
    // A path after @ is a name of Linux' abstract space.
    this.#client = new Client(endpoint.replace(/^unix:\/\/\/?@/, 'unix-abstract:'), credentials.createInsecure())
    this.#timeoutMs = timeoutMs
  }

  status(): Promise<KmsStatus> {
    return this.#call('Status', statusRequest, readStatus)
  }

  encrypt(plaintext: Buffer): Promise<Sealed> {
    return this.#call('Encrypt', encryptRequest(plaintext, randomUUID()), readSealed)
  }

  decrypt(sealed: Sealed): Promise<Buffer> {
    return this.#call('Decrypt', decryptRequest(sealed, randomUUID()), readPlaintext)
  }

  close(): void {
    this.#client.close()
  }

  #call<T>(method: string, message: Buffer, answer: (message: Buffer) => T): Promise<T> {
    const deadline = Date.now() + this.#timeoutMs
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest<Buffer, T>(
        `/v2.KeyManagementService/${method}`,
        (bytes) => bytes,
        answer,
        message,
        { deadline },
        (error: ServiceError | null, value?: T) => (error ? reject(error) : resolve(value!)),
      )
    })
  }
}
