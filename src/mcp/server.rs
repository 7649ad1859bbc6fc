//! The protocol's requests: what there is, calls, cancellation, how many at once.

use std::{panic::AssertUnwindSafe, sync::Arc};

use ::http::request::Parts;
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};

use super::{
    find_functions,
    handles::Handles,
    list_modules,
    refusal::Refusal,
    resources,
    shared::{McpOptions, Shared},
    understand,
};
use crate::{
    conversation::{self, Tokens},
    shares::{Owner, Shares},
    snapshot::Snapshots,
    text::{foreign, fuel::Presence},
    understand::{UnderstandOptions, Understander},
};

const INSTRUCTIONS: &str = "\
Uptake turns what a person says into validated function calls. `understand` gives the calls that an utterance means, or \
the question to ask; `find_functions` gives the few functions that fit a request; `list_modules` tells what can be \
understood. Nothing is carried out here: the calls are yours to make.";

/// Who may call, and how many at once.
pub trait Admission: Send + Sync {
    /// Leave to run a call, until it is dropped; `None` if there are too many. `from` is the request that brought the
    /// call, where one did.
    fn admit<'a>(&'a self, from: Option<&'a Parts>) -> BoxFuture<'a, Option<Box<dyn Send + 'a>>>;

    /// Whose work the call is.
    fn owner(&self, _: Option<&Parts>) -> Owner {
        Owner::Process
    }
}

/// So many calls, whoever makes them, and nobody waits.
impl Admission for Shares {
    fn admit<'a>(&'a self, _: Option<&'a Parts>) -> BoxFuture<'a, Option<Box<dyn Send + 'a>>> {
        let share = self.try_take(&Owner::Process, 1).map(|share| Box::new(share) as Box<dyn Send + 'a>);
        std::future::ready(share).boxed()
    }
}

/// The tools, ready to be served on any transport. Cheap to clone; clones share.
#[derive(Clone)]
pub struct McpServer {
    shared: Arc<Shared>,
    tools: Arc<[Tool]>,
    admission: Arc<dyn Admission>,
}

impl McpServer {
    /// A call without leave is refused; whoever else serves turns may give it of the same.
    #[must_use]
    pub fn new(
        snapshots: Snapshots,
        understander: Understander,
        turns: UnderstandOptions,
        tokens: Tokens,
        options: McpOptions,
        admission: Arc<dyn Admission>,
    ) -> Self {
        let tools = Arc::new([
            find_functions::definition(&options, &turns),
            understand::definition(&options),
            list_modules::definition(),
        ]);
        let shared = Shared { snapshots, understander, turns, tokens, handles: Handles::new(), options };
        Self { shared: Arc::new(shared), tools, admission }
    }

    /// Loads every module that is offered, one after the other, so that no call has to wait for it. One that fails is
    /// told in the log and by whoever calls for it.
    pub async fn warm_up(&self) {
        for name in self.shared.options.offer.names(&self.shared.snapshots) {
            // A failure is logged where it happens, and told again to whoever asks for the module.
            drop(self.shared.snapshots.fresh(&name).await);
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("uptake", env!("CARGO_PKG_VERSION"))
            .with_title("Uptake")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        // Whoever let the request in says whose it is.
        let from = context.extensions.get::<Parts>();
        let kept_for = from.and_then(|from| from.extensions.get::<conversation::Tenant>()).cloned();
        let kept_for = kept_for.unwrap_or_else(conversation::Tenant::everybody);
        let owner = self.admission.owner(from);
        let call = match name.as_ref() {
            find_functions::NAME => find_functions::call(&self.shared, arguments, owner).boxed(),
            understand::NAME => understand::call(&self.shared, arguments, (&kept_for, owner)).boxed(),
            list_modules::NAME => list_modules::call(&self.shared, arguments).boxed(),
            unknown => {
                let shown = foreign::shown(unknown, 100);
                return Err(ErrorData::invalid_params(format!("Unknown tool: {shown}"), None));
            }
        };
        let admitted = async {
            let Some(_leave) = self.admission.admit(from).await else { return Err(Refusal::busy()) };
            AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| Err(Refusal::panicked()))
        };
        // The task is the library's, which knows nothing of the connection until its end.
        let waits = from.and_then(|from| from.extensions.get::<Presence>()).cloned();
        let admitted = match waits {
            Some(waits) => waits.waits_for(admitted).boxed(),
            None => admitted.boxed(),
        };
        let result = tokio::select! {
            result = admitted => result,
            // The call is dropped, and with it all that it waits for. Nobody reads this answer.
            () = context.ct.cancelled() => Err(Refusal::new("the call was cancelled")),
        };
        Ok(result.unwrap_or_else(Into::into).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list(&self.shared)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.shared, &request.uri).await.map(Into::into)
    }
}
