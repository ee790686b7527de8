// The action's last step: keeps one comment of a pull request up to date with the report.
//
//   node pull-request-comment.ts <report.md> <title>
//
// Reads GITHUB_TOKEN, and what GitHub sets for each step: GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GITHUB_API_URL,
// GITHUB_GRAPHQL_URL, GITHUB_SERVER_URL, GITHUB_RUN_ID. A pull request that it may not write to is no failure of the relay, so it
// warns and ends with 0.
import { readFile } from 'node:fs/promises'

/** GitHub takes 65,536 characters; links and title need some. */
const mostChars = 60_000
const timeoutMs = 30_000

const variable = (name: string): string => process.env[name] ?? ''

/** The comments of a pull request. `viewerDidAuthor` tells ours from those of others who write the same mark. */
const commentsQuery = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      comments(first: 100, after: $after) {
        nodes { databaseId body viewerDidAuthor }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`

interface Comments {
  readonly nodes: readonly { readonly databaseId: number; readonly body: string; readonly viewerDidAuthor: boolean }[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

/** @throws Error when GitHub refuses, with what it says */
async function send(method: string, url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${variable('GITHUB_TOKEN')}`,
      'content-type': 'application/json',
      'user-agent': 'touchstone',
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.ok) return response.json()
  throw new Error(
    `${method} ${new URL(url).pathname} gets HTTP ${response.status}: ${(await response.text()).slice(0, 200)}`,
  )
}

/** The id of our comment that begins with this mark; undefined: there is none yet. */
async function findComment(repository: string, number: number, mark: string): Promise<number | undefined> {
  const [owner, name] = repository.split('/')
  let after: string | null = null
  do {
    const variables = { owner, name, number, after }
    const { data, errors } = (await send('POST', variable('GITHUB_GRAPHQL_URL'), {
      query: commentsQuery,
      variables,
    })) as {
      data?: { repository: { pullRequest: { comments: Comments } } } | null
      errors?: readonly { readonly message: string }[]
    }
    if (!data) throw new Error(errors?.[0]?.message ?? 'GitHub lists no comments')
    const { nodes, pageInfo } = data.repository.pullRequest.comments
    const found = nodes.find(({ body, viewerDidAuthor }) => viewerDidAuthor && body.startsWith(mark))
    if (found) return found.databaseId
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null
  } while (after !== null)
  return undefined
}

/** The comment. It links to the run first, since a long report is cut off at its end. */
function commentOf(report: string, title: string, mark: string): string {
  const repository = variable('GITHUB_REPOSITORY')
  const run = `${variable('GITHUB_SERVER_URL')}/${repository}/actions/runs/${variable('GITHUB_RUN_ID')}`
  const whole = report.length <= mostChars
  const kept = whole ? report : report.slice(0, report.lastIndexOf('\n', mostChars))
  return `${mark}\n[${title}](${run})${whole ? '' : ', of which this is the beginning'}\n\n${kept}`
}

async function comment(reportPath: string, title: string): Promise<string> {
  const event = JSON.parse(await readFile(variable('GITHUB_EVENT_PATH'), 'utf8')) as {
    readonly pull_request?: { readonly number: number }
  }
  const number = event.pull_request?.number
  if (number === undefined) return 'no comment: the event is of no pull request'
  // Each title has a comment of its own, so that several jobs do not overwrite one.
  const mark = `<!-- touchstone: ${title.replace(/[^\w ./:-]/g, '').replaceAll('--', '-')} -->`
  const body = commentOf(await readFile(reportPath, 'utf8'), title.replace(/[[\]<>]/g, ''), mark)
  const repository = variable('GITHUB_REPOSITORY')
  const issues = `${variable('GITHUB_API_URL')}/repos/${repository}/issues`
  const id = await findComment(repository, number, mark)
  if (id === undefined) await send('POST', `${issues}/${number}/comments`, { body })
  else await send('PATCH', `${issues}/comments/${id}`, { body })
  return id === undefined ? 'commented' : 'updated the comment'
}

const [reportPath = '', title = 'Touchstone'] = process.argv.slice(2)
try {
  console.log(await comment(reportPath, title))
} catch (error) {
  const why = (error as Error).message.replace(/[\r\n]+/g, ' ').replaceAll('%', '%25')
  console.log(`::warning title=No comment::${why} (the job needs permissions: pull-requests: write)`)
}
