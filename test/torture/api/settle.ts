/** The end of a round: all informers get the time to receive all changes. */
import { NoAnswerError } from './clients/connection.ts'
import type { Target } from './clients/target.ts'
import type { Informer } from './clients/watchers.ts'
import { bodyOf, collectionPath, kinds, namespaces, shards } from './objects.ts'
import { inScope } from './scope.ts'

/** Time in ms without progress after which missing events are a fault. */
const patienceMs = 20_000

/**
 * Creates an object that each informer must receive, and waits until all have, or until the others make no progress.
 */
export async function settle(target: Target, round: number, followers: readonly Informer[]): Promise<void> {
  const connection = (await target.connection('markers'))!
  const { history } = target
  const markers = await Promise.all(
    kinds.flatMap((kind) =>
      namespaces.flatMap((namespace) =>
        shards.map(async (shard) => {
          const name = `marker-${round}-${shard}`
          const write = history.begin(history.key(kind, namespace, name), 'create', shard, performance.now())
          const { status, text, at } = await connection.request(
            'POST',
            collectionPath(kind, namespace),
            bodyOf(kind, name, write),
          )
          if (status !== 201) throw new NoAnswerError(name, `${status} ${text}`)
          write.outcome = 'acknowledged'
          write.answered = at
          write.revision = Number(
            (JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion,
          )
          return write
        }),
      ),
    ),
  )
  const goal = ({ scope }: Informer): number =>
    Math.max(...markers.filter(({ key, shard }) => inScope(scope, key, shard)).map((write) => write.revision))
  let reached = 0
  let lastProgress = performance.now()
  for (;;) {
    const behind = followers.filter((follower) => follower.revision < goal(follower))
    if (behind.length === 0) break
    const now = performance.now()
    const sum = followers.reduce((sum, { revision }) => sum + revision, 0)
    if (sum > reached) [reached, lastProgress] = [sum, now]
    if (now - lastProgress > patienceMs) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  for (const follower of followers) {
    if (follower.current) follower.current.mustReach = goal(follower)
    else if (follower.revision < goal(follower))
      target.fault(
        'an informer catches up',
        `the informer of ${JSON.stringify(follower.scope)} has no watch after ${patienceMs} ms`,
      )
  }
}
