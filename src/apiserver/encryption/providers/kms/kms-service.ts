/** A client for a KMS plug-in: gRPC over a unix socket. */
import { randomUUID } from 'node:crypto'
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { type EncryptResponse, KeyManagementService, type StatusResponse } from '#protobuf/kms-v2_pb.js'
import { bufferOf } from '../../../../lib/buffer-of.ts'
import { GrpcError } from './grpc-error.ts'

/** A seed encrypted by the plug-in. */
export type Sealed = Pick<EncryptResponse, 'ciphertext' | 'keyId' | 'annotations'>

export type KmsStatus = Pick<StatusResponse, 'version' | 'healthz' | 'keyId'>

/** The methods of a KMS plug-in. They reject with a GrpcError. */
export interface KeyService {
  status(): Promise<KmsStatus>
  /** `uid` identifies the call in both logs. */
  encrypt(plaintext: Uint8Array, uid: string): Promise<Sealed>
  decrypt(sealed: Sealed): Promise<Uint8Array>
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
    return this.#call(KeyManagementService.method.status, {})
  }

  encrypt(plaintext: Uint8Array, uid: string): Promise<Sealed> {
    return this.#call(KeyManagementService.method.encrypt, { plaintext, uid })
  }

  async decrypt({ ciphertext, keyId, annotations }: Sealed): Promise<Uint8Array> {
    const request = { ciphertext, uid: randomUUID(), keyId, annotations }
    return (await this.#call(KeyManagementService.method.decrypt, request)).plaintext
  }

  close(): void {
    this.#client.close()
  }

  #call<I extends DescMessage, O extends DescMessage>(
    { parent, name, input, output }: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    const method = `/${parent.typeName}/${name}`
    const start = performance.now()
    const asked = (error?: Error): void => this.#observeCall(method, (performance.now() - start) / 1000, error)
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + this.#timeoutMs
      this.#client.makeUnaryRequest<MessageShape<I>, MessageShape<O>>(
        method,
        (message) => bufferOf(toBinary(input, message)),
        (bytes) => fromBinary(output, bytes),
        create(input, request),
        { deadline },
        (cause: ServiceError | null, value?: MessageShape<O>) => {
          const error = cause ? new GrpcError(cause) : undefined
          asked(error)
          if (error) reject(error)
          else resolve(value!)
        },
      )
    })
  }
}
