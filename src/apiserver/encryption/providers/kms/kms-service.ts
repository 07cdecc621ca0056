/** A KMS plug-in, asked over gRPC on its unix socket. */
import { randomUUID } from 'node:crypto'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { GrpcError } from './grpc-error.ts'
import {
  decryptRequest,
  encryptRequest,
  type KmsStatus,
  readPlaintext,
  readSealed,
  readStatus,
  type Sealed,
  statusRequest,
} from './messages.ts'

/** What a plug-in does; rejects with a GrpcError. */
export interface KeyService {
  status(): Promise<KmsStatus>
  /** `uid` names the call in the logs of both. */
  encrypt(plaintext: Buffer, uid: string): Promise<Sealed>
  decrypt(sealed: Sealed): Promise<Buffer>
  close(): void
}

/** Is told of each call: `/v2.KeyManagementService/Encrypt`, in seconds. */
export type Asked = (method: string, seconds: number, error?: Error) => void

export class KmsService implements KeyService {
  readonly #client: Client
  readonly #timeoutMs: number
  readonly #asked: Asked

  /** `endpoint` is `unix:///run/kms.sock`; a call may take `timeoutMs`. */
  constructor(endpoint: string, timeoutMs: number, asked: Asked) {
    this.#asked = asked
    // A path after @ is a name of Linux' abstract space.
    this.#client = new Client(endpoint.replace(/^unix:\/\/\/?@/, 'unix-abstract:'), credentials.createInsecure())
    this.#timeoutMs = timeoutMs
  }

  status(): Promise<KmsStatus> {
    return this.#call('Status', statusRequest, readStatus)
  }

  encrypt(plaintext: Buffer, uid: string): Promise<Sealed> {
    return this.#call('Encrypt', encryptRequest(plaintext, uid), readSealed)
  }

  decrypt(sealed: Sealed): Promise<Buffer> {
    return this.#call('Decrypt', decryptRequest(sealed, randomUUID()), readPlaintext)
  }

  close(): void {
    this.#client.close()
  }

  #call<T>(name: string, message: Buffer, answer: (message: Buffer) => T): Promise<T> {
    const method = `/v2.KeyManagementService/${name}`
    const start = performance.now()
    const asked = (error?: Error): void => this.#asked(method, (performance.now() - start) / 1000, error)
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + this.#timeoutMs
      this.#client.makeUnaryRequest<Buffer, T>(
        method,
        (bytes) => bytes,
        answer,
        message,
        { deadline },
        (cause: ServiceError | null, value?: T) => {
          const error = cause ? new GrpcError(cause) : undefined
          asked(error)
          if (error) reject(error)
          else resolve(value!)
        },
      )
    })
  }
}
