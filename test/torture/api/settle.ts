/** The end of a round: everybody who follows the server is given the time to hear of everything. */
import { NoAnswerError } from './crowd/connection.ts'
import type { Target } from './crowd/target.ts'
import type { Informer } from './crowd/watchers.ts'
import { bodyOf, collectionPath, kinds, namespaces, shards } from './objects.ts'
import { inScope } from './scope.ts'

/** How long watches may be silent before they are held not to tell what is missing. */
const patienceMs = 20_000

/**
 * Makes an object that each informer must hear of, and waits until all have, or until those that have not are silent
 * for long.
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
  let heard = 0
  let lastNews = performance.now()
  for (;;) {
    const behind = followers.filter((follower) => follower.revision < goal(follower))
    if (behind.length === 0) break
    const now = performance.now()
    const sum = followers.reduce((sum, { revision }) => sum + revision, 0)
    if (sum > heard) [heard, lastNews] = [sum, now]
    if (now - lastNews > patienceMs) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  for (const follower of followers) {
    if (follower.current) follower.current.mustReach = goal(follower)
    else if (follower.revision < goal(follower))
      target.fault(
        'an informer comes to the truth',
        `the informer of ${JSON.stringify(follower.scope)} has no watch after ${patienceMs} ms`,
      )
  }
}
