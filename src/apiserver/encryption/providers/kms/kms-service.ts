/** A client for a KMS plug-in: gRPC over a unix socket. */
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

/** The methods of a KMS plug-in. They reject with a GrpcError. */
export interface KeyService {
  status(): Promise<KmsStatus>
  /** `uid` identifies the call in both logs. */
  encrypt(plaintext: Buffer, uid: string): Promise<Sealed>
  decrypt(sealed: Sealed): Promise<Buffer>
  close(): void
}

/** Called after each call with its method, `/v2.KeyManagementService/Encrypt`, and its duration in seconds. */
export type CallObserver = (method: string, seconds: number, error?: Error) => void

export class KmsService implements KeyService {
  readonly #client: Client
  readonly #timeoutMs: number
  readonly #observeCall: CallObserver

  /** `endpoint` is for example `unix:///run/kms.sock`; `timeoutMs` limits each call. */
  constructor(endpoint: string, timeoutMs: number, asked: CallObserver) {
    this.#observeCall = asked
    // A path that begins with @ is in the abstract namespace of Linux.
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
    const asked = (error?: Error): void => this.#observeCall(method, (performance.now() - start) / 1000, error)
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
