#include "preset/preset.h"

#include "preset/phrases.h"

/* The server, Redis or Valkey, answers, but cannot serve yet. */
#define REDIS_AGAIN \
	"^(\\(error\\) )?(LOADING (Redis|Valkey) is loading |" \
	"BUSY (Redis|Valkey) is busy |MASTERDOWN Link with MASTER|" \
	"CLUSTERDOWN |TRYAGAIN )"

static const struct preset tools[] = {
	{
	    .name = "net",
	    .knows = "no connection, no name, HTTP 429 or 5xx in any words",
	    .programs = "",
	    .codes = SLOW_TOO,
	    .err = { .fatal = NET_NEVER, .transient = NET_AGAIN },
	    .source = "errno(3), gai_strerror(3), RFC 9110; captures",
	},
	{
	    /* 75 invites a retry; 69 is a catchall, says sysexits.h. */
	    .name = "sysexits",
	    .knows = "status 75, EX_TEMPFAIL",
	    .programs = "",
	    .codes = SLOW ",75",
	    .source = "sysexits.h: EX_TEMPFAIL",
	},
	{
	    /* 35 and 56 have permanent causes, too. */
	    .name = "curl",
	    .knows = "no connection, a transfer cut short, HTTP 429 or 5xx",
	    .programs = "curl",
	    .codes = SLOW_TOO ",5-7,12,16,18,28,35,52,55,56,92,95,96",
	    .err = { .fatal = "^curl: \\(35\\) .*(wrong version number|"
			      "unsupported protocol|no protocols available|"
			      "handshake failure)|^curl: \\(56\\) "
			      ".*(response|code) 4(0[0-79]|1[0-9])\\b",
		.transient = "^curl: \\(22\\) .*error: " AGAIN },
	    .source = "curl(1), EXIT CODES",
	},
	{
	    .name = "wget",
	    .knows = "errors of the network, HTTP 429 or 5xx",
	    .programs = "wget",
	    .codes = SLOW_TOO ",4",
	    .err = { .transient = "ERROR " AGAIN "|^wget: (bad address|"
				  "can't connect to remote host|"
				  "download timed out|server returned error: "
				  "HTTP/1\\.[01] " AGAIN ")" },
	    .source = "wget(1), EXIT STATUS; BusyBox networking/wget.c",
	},
	{
	    /* SSH_DROPPED is not here: the remote command may have run. */
	    .name = "ssh",
	    .knows = "no connection, but not what the command did",
	    .programs = "ssh",
	    .codes = SLOW,
	    .own = "255",
	    .err = { .fatal = SSH_NEVER, .transient = SSH_AGAIN },
	    .source = "ssh(1), EXIT STATUS; OpenSSH; captures",
	},
	{
	    .name = "scp",
	    .knows = "a lost connection, but not a full disk",
	    .programs = "scp sftp",
	    .codes = SLOW_TOO,
	    .err = { .fatal = SSH_NEVER "|Permission denied|" FULL,
		.transient = SSH_AGAIN "|" SSH_DROPPED },
	    .source = "scp(1), sftp(1); OpenSSH; captures",
	},
	{
	    /*
	     * 5 may be a wrong password; after 23 and 24 some files are sent. A
	     * daemon that sends no greeting is starting, stopping or full.
	     */
	    .name = "rsync",
	    .knows = "a lost connection, a daemon that is full",
	    .programs = "rsync",
	    .codes = SLOW_TOO ",10,12,30,35",
	    .err = { .fatal = SSH_NEVER "|^@ERROR: (auth failed|"
					"Unknown module|access denied)|"
					"command not found|" FULL,
		.transient =
		    SSH_AGAIN "|" SSH_DROPPED "|^@ERROR: max connections|"
			      "^rsync: did not see server greeting" },
	    .source = "rsync(1), EXIT VALUES; clientserver.c; captures",
	},
	{
	    .name = "rclone",
	    .knows = "status 5, an error that may pass",
	    .programs = "rclone",
	    .codes = SLOW_TOO ",5",
	    .source = "rclone documentation, List of exit codes",
	},
	{
	    .name = "restic",
	    .knows = "a locked repository",
	    .programs = "restic",
	    .codes = SLOW_TOO ",11",
	    .source = "restic documentation, Exit codes: locked repository",
	},
	{
	    .name = "git",
	    .knows = "a lost connection, a lock file, but not a rejected push",
	    .programs = "git",
	    .codes = SLOW_TOO,
	    .err = { .fatal = SSH_NEVER
		"|Authentication failed|could not read (Username|Password)|"
		"repository '.*' not found|Repository not found|"
		"not appear to be a git repository|returned error: " NEVER
		"|HTTP 413|\\[rejected\\]|hook declined|"
		"certificate (problem|verification failed)|" FULL,
		.transient = NET_AGAIN
		"|" SSH_AGAIN "|" SSH_DROPPED "|returned error: " AGAIN
		"|RPC failed; (HTTP " AGAIN "|curl " CURL_AGAIN " )|"
		"Failed to connect to |transfer closed with |early EOF|"
		"unexpected disconnect while|hung up unexpectedly|"
		"\\.lock': File exists|is at [0-9a-f]+ but expected" },
	    .source = "git's remote-curl.c, connect.c, lockfile.c; captures",
	},
	{
	    /*
	     * A proxy between client and daemon answers with a status phrase,
	     * which the daemon never does; but its 404 reads like a 503.
	     * Docker Hub's pull limit lasts for hours.
	     */
	    .name = "docker",
	    .knows = "no daemon, a registry that fails, but not a pull limit",
	    .programs = "docker docker-compose podman buildah skopeo",
	    .codes = SLOW_TOO,
	    .err = { .fatal =
			 "permission denied while trying to connect|"
			 "access denied|access to the resource is denied|"
			 "[Uu]nauthorized|daemon: ([Dd]enied|[Ff]orbidden)|"
			 "manifest (unknown|for .* not found)|"
			 "pull rate limit|invalid reference format|"
			 "[Nn]o such (image|container|volume|network)|"
			 "name .* is already in use|OCI runtime|x509: |"
			 "port is already allocated|" FULL,
		.transient = "^((docker|ERROR): )?(Cannot connect to the "
			     "Docker daemon|failed to connect to the docker "
			     "API) at |"
			     "^Error: unable to connect to Podman.* no such "
			     "file or directory|^(docker: )?"
			     "([Ee]rror|ERROR|FATA|failed to |time=).*" GO_AGAIN
			     "|unexpected (HTTP )?status.*: " AGAIN
			     "|toomanyrequests: Rate exceeded|"
			     "request returned (" AGAIN_REASON ")|"
			     "^Error response from daemon: \\w+$" },
	    .source = "Docker's client/request.go, containerd; captures",
	},
	{
	    .name = "kubectl",
	    .knows = "a server not reached or overloaded, a conflict",
	    .programs = "kubectl oc",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "^Error from server \\((Forbidden|NotFound|"
			      "Unauthorized|Invalid|BadRequest|"
			      "AlreadyExists|MethodNotAllowed)\\)|x509: |"
			      "must be logged in to the server|"
			      "^error: unknown (flag|command|shorthand)|"
			      "^command terminated with exit code",
		.transient = "^Unable to connect to the server: |"
			     "^The connection to the server .* was refused|"
			     "^Error from server \\((TooManyRequests|"
			     "ServiceUnavailable|Timeout|ServerTimeout|"
			     "InternalError)\\)|the object has been modified|"
			     "^Error from server: (etcdserver: |"
			     "error dialing backend: )|^error: .*" GO_AGAIN },
	    .source = "Kubernetes API conventions, HTTP status; captures",
	},
	{
	    /* A release "in progress" may be one whose helm was killed. */
	    .name = "helm",
	    .knows = "a cluster or repository that is not reached",
	    .programs = "helm",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "x509: |[Uu]nauthorized|[Ff]orbidden|"
			      "provide credentials|cannot re-use a name|"
			      "another operation .* is in progress|"
			      "YAML parse error|" NEVER_REASON,
		.transient = "^Error: .*(" GO_AGAIN
			     "|Kubernetes cluster unreachable|: " AGAIN
			     " )|the object has been modified" },
	    .source = "Helm's getter and kube packages, net/http",
	},
	{
	    /* Terraform breaks lines at 78 columns: short phrases only. */
	    .name = "terraform",
	    .knows = "throttling, a held state lock",
	    .programs = "terraform tofu",
	    .codes = SLOW_TOO,
	    .err = { .fatal = NET_NEVER
		"|requires auth|No valid credential|InvalidClientTokenId|"
		"ExpiredToken|AccessDenied|UnauthorizedOperation|AuthFailure|"
		"Error: (Unsupported|Invalid|Missing required)",
		.transient =
		    NET_AGAIN "|giving up after |bad response code: " AGAIN
			      "|Error acquiring the state lock|Throttling|"
			      "RequestLimitExceeded|TooManyRequestsException|"
			      "rateLimitExceeded" },
	    .source =
		"Terraform CLI, State Locking; go-retryablehttp; captures",
	},
	{
	    /* LimitExceededException is more often a quota than a rate limit.
	     */
	    .name = "aws",
	    .knows = "throttling, errors of the service",
	    .programs = "aws",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "An error occurred \\((" NEVER
			      "|AccessDenied|ExpiredToken|NoSuch|AuthFailure|"
			      "InvalidClientTokenId|InvalidAccessKeyId|"
			      "SignatureDoesNotMatch|UnrecognizedClient|"
			      "UnauthorizedOperation|Validation)|"
			      "Unable to locate credentials|^aws: error: ",
		.transient = "Could not connect to the endpoint URL|"
			     "(Connect|Read) timeout on endpoint URL|"
			     "Connection was closed before we received|"
			     "Further retries may succeed|An error occurred "
			     "\\((" AGAIN "|RequestTimeout|(EC2)?Thrott|"
			     "RequestThrottled|TooManyRequests|SlowDown|"
			     "RequestLimitExceeded|BandwidthLimitExceeded|"
			     "ProvisionedThroughputExceeded|"
			     "PriorRequestNotComplete|TransactionInProgress|"
			     "Internal(Error|Failure|ServerError)|"
			     "ServiceUnavailable)" },
	    .source = "AWS CLI user guide, Retries, Return codes; captures",
	},
	{
	    .name = "gcloud",
	    .knows = "UNAVAILABLE, ABORTED, DEADLINE_EXCEEDED",
	    .programs = "gcloud gsutil bq",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "PERMISSION_DENIED|UNAUTHENTICATED|NOT_FOUND|"
			      "INVALID_ARGUMENT|ALREADY_EXISTS|"
			      "gcloud auth login|invalid_grant|" NET_NEVER,
		.transient = "\\b(UNAVAILABLE|ABORTED|DEADLINE_EXCEEDED)\\b|"
			     "rateLimitExceeded|service is currently "
			     "unavailable|(HTTPError|ServiceException:|"
			     "code=) ?" AGAIN "|" NET_AGAIN },
	    .source = "google.rpc.Code; Cloud APIs, Errors",
	},
	{
	    /* The primary rate limit lasts an hour, the secondary is short. */
	    .name = "gh",
	    .knows = "errors of the server, the secondary rate limit",
	    .programs = "gh",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "HTTP (401|404|410|422)\\b|gh auth login|x509: ",
		.transient =
		    "HTTP " AGAIN "|status code: " AGAIN
		    "|error connecting to |secondary rate limit|" GO_AGAIN },
	    .source = "gh help exit-codes; GitHub REST API, Rate limits",
	},
	{
	    /* 4 means that a host was not reached, or that it refused. */
	    .name = "ansible",
	    .knows = "hosts that are not reached",
	    .programs = "ansible ansible-playbook ansible-pull",
	    .codes = SLOW_TOO ",4",
	    .out = { .fatal = "via ssh: .*(Permission denied|Host key verif|"
			      "[Aa]uthentication fail)" },
	    .source = "Ansible's task_queue_manager.py: RUN_UNREACHABLE_HOSTS",
	},
	{
	    .name = "psql",
	    .knows = "a server that starts or is full, deadlocks",
	    .programs = "psql pg_dump pg_dumpall pg_restore pg_basebackup "
			"createdb dropdb vacuumdb reindexdb pgbench",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "authentication failed|no pg_hba\\.conf entry|"
			      "(role|database) \".*\" does not exist|"
			      "permission denied|syntax error|" FULL,
		.transient = UNREACHED
		"|" UNRESOLVED "|timeout expired|too many clients already|"
		"remaining connection slots|"
		"the database system is |Is the server running |closed the "
		"connection "
		"unexpectedly|terminating connection due to|"
		"could not serialize access|deadlock detected" },
	    .source = "PostgreSQL manual, Error Codes 08, 40, 53, 57; captures",
	},
	{
	    .name = "pg_isready",
	    .knows = "a server that starts or does not answer",
	    .programs = "pg_isready",
	    .codes = SLOW_TOO ",1,2",
	    .source = "pg_isready(1), EXIT STATUS",
	},
	{
	    .name = "mysql",
	    .knows = "no connection, too many connections, deadlocks",
	    .programs = "mysql mysqldump mysqladmin mysqlimport mysqlcheck "
			"mariadb mariadb-dump mariadb-admin mariadb-import "
			"mariadb-check",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "Access denied for user|([Ee]rror|ERROR):? "
			      "(1044|1045|1049|1064|1130|1142|1146|1153|1698)"
			      "\\b|" FULL,
		.transient = "([Ee]rror|ERROR):? (1040|1053|1203|1205|1213|"
			     "2002|2003|2005|2006|2013)\\b|"
			     "Can't connect to |Lost connection to |"
			     "server has gone away|Too many connections|"
			     "try restarting transaction" },
	    .source = "MySQL manual, Server and Client Error Messages",
	},
	{
	    /* An error reply is printed on stdout, and the status is 0. */
	    .name = "redis",
	    .knows =
		"no connection, and the replies LOADING, BUSY and the like",
	    .programs = "redis-cli valkey-cli",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "^(AUTH failed: |NOAUTH |WRONGPASS |NOPERM )",
		.transient =
		    REDIS_AGAIN "|^Could not connect to (Redis|Valkey) at |"
				"^Error: (Server closed|Connection)" },
	    .out = { .transient = REDIS_AGAIN, .failed = REDIS_AGAIN },
	    .source = "Redis' server.c, redis-cli.c; captures",
	},
	{
	    .name = "sqlite3",
	    .knows = "a locked database",
	    .programs = "sqlite",
	    .codes = SLOW_TOO ",5",
	    .err = { .fatal = "readonly database|disk is full|"
			      "is not a database|is malformed",
		.transient = "database (table |schema )?is locked" },
	    .source = "sqlite.org/rescode: SQLITE_BUSY; sqlite3 3.40",
	},
	{
	    /* 1 may also be the command's own status, unless -E changes it. */
	    .name = "flock",
	    .knows = "a lock that another process holds",
	    .programs = "flock",
	    .codes = SLOW ",1",
	    .source = "flock(1), EXIT STATUS",
	},
	{
	    .name = "mount",
	    .knows = "a server that is not reached, a busy target",
	    .programs = "mount umount",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "[Aa]ccess denied|Permission denied|wrong fs|"
			      "Operation not permitted|must be superuser|"
			      "No such |does not exist|already mounted",
		.transient = "^mount(\\.[a-z0-9]+)?: .*(" UNREACHED
			     "|" UNRESOLVED "|Resource temporarily)|"
			     "^mount error\\((110|111|112|113)\\)|"
			     "^umount: .*is busy" },
	    .source = "mount(8), nfs(5), errno(3)",
	},
	{
	    .name = "ping",
	    .knows = "no answer, a name that cannot be resolved",
	    .programs = "ping",
	    .codes = SLOW_TOO ",1",
	    .err = { .fatal = "Operation not permitted|invalid argument",
		.transient = UNRESOLVED "|Network is unreachable" },
	    .source = "ping(8): 1 where no reply came",
	},
};

const struct preset *
preset_tools(size_t *count)
{
	*count = sizeof tools / sizeof tools[0];
	return tools;
}
