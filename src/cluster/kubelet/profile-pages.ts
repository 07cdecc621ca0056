/** `/debug/pprof/` of a kubelet: profiles of its process, as those of the API server. */
import { Readable } from 'node:stream'
import { profiles } from '../../apiserver/profiling/index.ts'
import type { KubeletOptions } from '../../kubelet/kubelet.ts'
import type { Page } from '../../node/server/served-nodes.ts'

export const profilePages: NonNullable<KubeletOptions['profile']> = (request) => {
  const profile = profiles(request.path)
  return profile && pageOf(profile(request))
}

async function pageOf(answer: ReturnType<NonNullable<ReturnType<typeof profiles>>>): Promise<Page> {
  const { status, headers = {}, body } = await answer
  const { 'content-type': type = 'text/plain; charset=utf-8', ...others } = headers
  return { status, type: String(type), headers: others as Page['headers'], text: body ? Readable.from([body]) : '' }
}
