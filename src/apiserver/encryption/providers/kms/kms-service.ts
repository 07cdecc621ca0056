/** A client for a KMS plug-in: gRPC over a unix socket. */
import { randomUUID } from 'node:crypto'
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf'
import { type EncryptResponse, KeyManagementService, type StatusResponse } from '#protobuf/kms-v2_pb.js'
import { pathOf, SocketClient } from '../../../../lib/grpc/socket-client.ts'

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
  readonly #client: SocketClient
  readonly #timeoutMs: number
  readonly #observeCall: CallObserver

  /** `endpoint` is for example `unix:///run/kms.sock`; `timeoutMs` limits each call. */
  constructor(endpoint: string, timeoutMs: number, observeCall: CallObserver) {
    this.#client = new SocketClient(endpoint)
    this.#timeoutMs = timeoutMs
    this.#observeCall = observeCall
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

  async #call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    const started = performance.now()
    const observe = (error?: Error): void =>
      this.#observeCall(pathOf(method), (performance.now() - started) / 1000, error)
    try {
      const response = await this.#client.call(method, request, { timeoutMs: this.#timeoutMs })
      observe()
      return response
    } catch (error) {
      observe(error as Error)
      throw error
    }
  }
}
